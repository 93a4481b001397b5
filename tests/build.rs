//! Says whether ../shared is at hand, so that tests that need it are reported as ignored where it is not. Under CI they
//! run, and fail, without it.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_shared)");
    println!("cargo::rerun-if-env-changed=ANONSQL_SHARED");
    println!("cargo::rerun-if-env-changed=CI");
    println!("cargo::rerun-if-changed=tests/build.rs");
    let shared = std::env::var("ANONSQL_SHARED").unwrap_or_else(|_| "../shared".into());
    if Path::new(&shared).exists() || std::env::var("CI").is_ok() {
        println!("cargo::rustc-cfg=has_shared");
    }
}
