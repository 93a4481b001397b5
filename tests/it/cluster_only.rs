mod architecture;
mod cluster;
mod common;
