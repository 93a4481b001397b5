//! Runs the initialization script before all other statements.

use super::args::Args;
use super::runner::Runner;
use super::script::run_file;
use crate::base::error::Result;
use std::path::PathBuf;

/// Runs the script given with `--init`, or otherwise the user's own script, without printing its
/// results.
pub fn run(runner: &mut Runner, args: &Args) -> Result<()> {
    let own = || own().filter(|path| !args.no_init && path.is_file());
    let Some(path) = args.init.clone().or_else(own) else {
        return Ok(());
    };
    runner.silence(true);
    let done = run_file(runner, &path);
    runner.silence(false);
    done
}

/// Returns the path of the user's own script, which may not exist; `None` if the user has no home
/// folder.
fn own() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("anonsql").join("init.sql"))
}
