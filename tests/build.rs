//! Checks whether ../shared, tmux, moto (an S3 server), azurite (an Azure storage server), a
//! Chromium, and readers of Delta tables from PyPI are available. Tests that need a missing one are
//! reported as ignored. Under CI, only tests that need a missing Chromium are ignored. All other
//! tests run, and fail if a program or package that they need is missing. Also decides how a build
//! for development is linked.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_shared)");
    println!("cargo::rustc-check-cfg=cfg(has_tmux)");
    println!("cargo::rustc-check-cfg=cfg(has_moto)");
    println!("cargo::rustc-check-cfg=cfg(has_azurite)");
    println!("cargo::rustc-check-cfg=cfg(has_deltalake)");
    println!("cargo::rustc-check-cfg=cfg(has_chromium)");
    println!("cargo::rerun-if-env-changed=ANONSQL_SHARED");
    println!("cargo::rerun-if-env-changed=ANONSQL_CHROMIUM");
    println!("cargo::rerun-if-env-changed=CI");
    println!("cargo::rerun-if-changed=tests/build.rs");
    let shared = std::env::var("ANONSQL_SHARED").unwrap_or_else(|_| "../shared".into());
    if Path::new(&shared).exists() || std::env::var("CI").is_ok() {
        println!("cargo::rustc-cfg=has_shared");
    }
    if found(&["tmux"]).is_some() || std::env::var("CI").is_ok() {
        println!("cargo::rustc-cfg=has_tmux");
    }
    if found(&["moto_server"]).is_some() || std::env::var("CI").is_ok() {
        println!("cargo::rustc-cfg=has_moto");
    }
    if found(&["azurite-blob"]).is_some() || std::env::var("CI").is_ok() {
        println!("cargo::rustc-cfg=has_azurite");
    }
    if std::env::var("CI").is_ok()
        || std::env::var("CARGO_FEATURE_DELTA").is_ok() && imports("deltalake, duckdb, pyarrow")
    {
        println!("cargo::rustc-cfg=has_deltalake");
    }
    link_whole_sections();
    if let Some(chromium) = chromium() {
        println!("cargo::rustc-cfg=has_chromium");
        println!("cargo::rustc-env=ANONSQL_CHROMIUM_PATH={}", chromium.display());
        println!("cargo::rerun-if-changed={}", chromium.display());
    }
}

/// Makes the linker keep unused functions in a build for development. Finding them takes a fifth of
/// the time that it takes to link the command.
fn link_whole_sections() {
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-Wl,--no-gc-sections");
    }
}

/// Returns true if Python can import these packages.
fn imports(packages: &str) -> bool {
    let import = format!("import {packages}");
    let imported = Command::new("python3").args(["-c", &import]).output();
    imported.is_ok_and(|output| output.status.success())
}

/// Returns the browser that ANONSQL_CHROMIUM names, or the first of the usual browsers in PATH.
fn chromium() -> Option<PathBuf> {
    if let Ok(named) = std::env::var("ANONSQL_CHROMIUM") {
        return Some(PathBuf::from(named)).filter(|p| p.is_file());
    }
    found(&["chromium", "chromium-browser", "google-chrome"])
}

/// Returns the path of one of these commands: the first that is found when the folders of PATH are
/// searched in order. If a folder contains several of them, the order of `names` decides.
fn found(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|path| path.is_file())
}
