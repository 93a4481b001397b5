mod cluster;
mod common;
