//! The clauses that statements share. Each file contains the type, the parser and the printer of a
//! clause.

mod choice;
pub(crate) mod column;
pub(crate) mod constraint;
pub(crate) mod definition;
pub(crate) mod file;
mod goal;
pub mod list;
mod mask;
pub(crate) mod options;
mod policy;
pub(crate) mod roles;
pub(crate) mod source;
mod suppression;
mod target;

pub use choice::{ChoiceClause, RecodingClause};
pub use constraint::{ConstraintClause, ScopeClause};
pub use definition::DefinitionClause;
pub use file::FileClause;
pub use goal::{GoalClause, ObjectiveClause};
pub use policy::PolicyClause;
pub use roles::{ColumnClause, QuasiIdentifierClause, RandomizeClause, SensitiveClause};
pub use source::{PathClause, SourceClause};
pub use suppression::LimitClause;
pub(crate) use suppression::Percent;
pub use target::{ExistsClause, FormatClause, TargetClause};
