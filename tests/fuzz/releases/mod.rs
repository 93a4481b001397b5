//! Runs random statements over random tables, with every way to deliver the rows, and judges the
//! releases.

mod again;
mod arrays;
mod case;
mod execute;
mod generate;
mod judge;
mod labelled;
mod plant;
mod print;
mod session;
mod shrink;
mod spark;
mod verify;
mod watch;

pub use watch::run;

use anonsql::error::ErrorKind;
use case::{Case, Choice, Format, Source, Way};
use std::panic::AssertUnwindSafe;
use std::path::Path;

/// A failure of a case: its kind and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: &'static str,
    pub what: String,
}

impl Failure {
    pub fn new(kind: &'static str, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
        }
    }
}

/// The result of a case without a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Released,
    /// The statement was refused, with this message.
    Refused(&'static str, String),
}

/// Runs a case and judges it. A panic on this thread is a failure.
pub fn attempt(runtime: &tokio::runtime::Runtime, case: &Case) -> Result<Ended, Failure> {
    let work = || {
        let scratch = tempfile::Builder::new()
            .prefix("anonsql-fuzz-")
            .tempdir_in(scratch_root());
        let scratch = scratch.map_err(|e| Failure::new("harness", e.to_string()))?;
        runtime.block_on(judged(case, scratch.path()))
    };
    match std::panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(ended) => ended,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("a panic");
            Err(Failure::new("panic", format!("{text} at {}", watch::last_panic())))
        }
    }
}

/// Returns the parent of the scratch folders. It is in memory if the machine has `/dev/shm`.
fn scratch_root() -> std::path::PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        memory.to_path_buf()
    } else {
        std::env::temp_dir()
    }
}

async fn judged(case: &Case, folder: &Path) -> Result<Ended, Failure> {
    let scene = match execute::scene(case, folder).await {
        Ok(scene) => scene,
        // A source that DataFusion cannot read by itself is not a case.
        Err(e) => return Ok(Ended::Refused("source", e.to_string())),
    };
    let (context, leaves) = match execute::run(case, &scene).await {
        Ok(done) => done,
        Err(error) => return refused(case, &scene, &error),
    };
    judge::release(case, &scene, &leaves)?;
    if let Way::To { format, .. } = &case.way {
        verify::untouched(case, &scene, &context, &scene.folder.join("out")).await?;
        if *format == Format::Parquet && case.seed % 8 == 1 && verify::can_be_asked(case) {
            plant::all(case, &scene, &context, &judge::judged(case, &scene, &leaves)).await?;
        }
    }
    if case.seed.is_multiple_of(8) {
        again::same(case, &scene, &leaves, &folder.join("again")).await?;
    }
    if case.seed % 4 == 3 {
        labelled::holds(case, &scene, &leaves).await?;
    }
    Ok(Ended::Released)
}

/// Judges an error. The error is a valid result if the request or its data caused it and it reveals
/// nothing about a person.
fn refused(case: &Case, scene: &execute::Scene, error: &anonsql::error::Error) -> Result<Ended, Failure> {
    says_nothing_of_a_person(case, scene, error)?;
    if scene.folder.join("out").exists() {
        return Err(Failure::new("left", format!("a target was left behind by: {error}")));
    }
    let said = format!("{error} {error:?}");
    if said.contains("Error during planning") || said.contains("Schema error") {
        // The statement is valid SQL, so anonsql wrote the part that cannot be planned.
        return Err(Failure::new("planning", error.to_string()));
    }
    if said.contains("Unsupported type for") && matches!(case.source, Source::Join(_)) {
        // DataFusion cannot join by this column (an error of its ArrayMap, whose name the message
        // hides).
        return Ok(Ended::Refused("source", error.to_string()));
    }
    let kind = match error.kind() {
        ErrorKind::Usage => "usage",
        ErrorKind::Data => "data",
        ErrorKind::Infeasible => "infeasible",
        _ => return Err(Failure::new("error", format!("{:?}: {error}", error.kind()))),
    };
    if kind == "infeasible" && is_complete(&case.request.choice) {
        judge::infeasible(case, scene)?;
    }
    Ok(Ended::Refused(kind, error.to_string()))
}

/// Checks that every marker of a value in an error is also in the statements.
fn says_nothing_of_a_person(case: &Case, scene: &execute::Scene, error: &anonsql::error::Error) -> Result<(), Failure> {
    let said = format!("{error} {error:?}");
    if let Some(marker) = judge::bytes::markers(said.as_bytes()).first() {
        let in_statement = case.statement(&scene.folder).contains(marker.as_str())
            || case.setup(&scene.folder).iter().any(|s| s.contains(marker.as_str()));
        if !in_statement {
            return Err(Failure::new("error", format!("an error tells {marker}: {error}")));
        }
    }
    Ok(())
}

/// Returns true if a search without a result proves that there is no solution.
fn is_complete(choice: &Choice) -> bool {
    match choice {
        Choice::Default | Choice::Node(_) => true,
        Choice::Local => false,
        Choice::Search(call) => ["auto", "flash", "exhaustive", "ola", "incognito"]
            .iter()
            .any(|s| call.starts_with(s)),
    }
}
