//! The job: a request as a value, bound to names and types. [`Job::check`] contains every check of
//! the request itself. No rows are read before this check. After this check, no error is due to the
//! request alone.

mod check;
mod choice;
mod constraint;
mod goal;
mod guarantees;
mod input;
mod notes;
mod output;
mod replay;
mod report_file;
mod roles;
mod source;
mod target;
#[cfg(test)]
pub(crate) mod testing;
mod waiting;

pub use check::Purpose;
pub(crate) use check::{check_counted, check_population, check_report, may_divide, no_values, rises_from_zero};
pub use choice::{Candidate, Choice};
pub use constraint::{Constraint, Scope, SuppressionLimit};
pub use goal::Goal;
pub use guarantees::Guarantees;
pub use input::Input;
pub use output::Output;
pub use replay::Replay;
pub use report_file::ReportFile;
pub use roles::{ItemSet, MaskOf, QuasiIdentifier, Randomization, Roles, Sensitive, is_list};
pub use source::SourceTable;
pub(crate) use target::target_exists;
pub use target::{Existing, Format, Stored, Target};
pub use waiting::Waiting;
pub(crate) use waiting::{Taken, WaitingRows};

/// A bound request: the complete description of a release.
pub struct Job {
    /// What is read.
    pub input: Input,
    /// The roles of the columns.
    pub roles: Roles,
    /// What the release must satisfy.
    pub guarantees: Guarantees,
    /// What is minimized, and how the node or partition is chosen.
    pub goal: Goal,
    /// The target of the release, and what is recorded with it.
    pub output: Output,
}

impl Job {
    /// Returns the levels of the quasi-identifiers if the statement leaves no choice: AT NODE,
    /// USING MANIFEST, or LEVELS with one level for each quasi-identifier.
    pub fn given_levels(&self) -> Option<Vec<u8>> {
        let only = |q: &QuasiIdentifier| q.levels.filter(|(low, high)| low == high).map(|(low, _)| low);
        match &self.goal.choice {
            Choice::Node(levels) => Some(levels.clone()),
            Choice::Replay(replay) => replay.levels.clone(),
            Choice::Search { .. } => self.roles.quasi_identifiers.iter().map(only).collect(),
            Choice::Partition(_) => None,
        }
    }

    /// Returns true if classes count an entity that cannot be read from the released rows.
    pub fn hides_entity(&self) -> bool {
        let hidden = |e: &String| !self.roles.releases(e) || self.roles.mask(e).is_some();
        self.input.entity.as_ref().is_some_and(hidden)
    }
}
