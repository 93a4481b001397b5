//! The result of the first scan.

use crate::data::drift::Drift;
use crate::data::frequency::FrequencySets;
use crate::method::lattice::Lattice;

/// The frequency sets and the lattice of a source.
#[derive(Debug)]
pub struct Scanned {
    /// The frequency sets: the base set with the distinct combinations of quasi-identifier values,
    /// and the classes computed from it.
    pub sets: FrequencySets,
    /// The lattice of the nodes that LEVELS allows.
    pub lattice: Lattice,
    /// The unknown values and NULLs that the hierarchies of their columns refuse, as drift from the
    /// release that USING MANIFEST names.
    pub drift: Vec<Drift>,
}
