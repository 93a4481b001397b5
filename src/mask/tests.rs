//! Properties of every mask.
