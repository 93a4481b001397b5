//! The types for writing your own privacy model, metric, search or hierarchy kind.
//!
//! An [`Entry`] describes a name and its parameters in SQL, and builds the object from checked
//! [`Arguments`]. [`AnonContext`](crate::AnonContext) registers the entry. Statements, EXPLAIN,
//! VERIFY, help and completion then include it. The folder `examples` of the repository has one
//! example of each kind, from the entry to a release.

pub use crate::catalogue::{Arguments, Entry, Info, Kind, Param};

/// Privacy models: a predicate over one equivalence class, and the same guarantee as SQL.
pub mod model {
    pub use crate::model::{
        About, Audit, Build, Class, Comparison, Monotonicity, Overall, Predicate, PrivacyModel, Reads, Relation, Span,
        Subject,
    };
}

/// Quality metrics of a node, with their bounds.
pub mod metric {
    pub use crate::metric::{Build, Measure, Metric, Reads, Subject, View};
}

/// Searches over the generalization lattice, written against an oracle.
pub mod search {
    pub use crate::lattice::{Lattice, Node};
    pub use crate::search::{Assessment, Build, Context, Finding, Oracle, Search, Stop};
}

/// Hierarchy kinds: the clause of CREATE HIERARCHY, and the rule that labels values.
pub mod hierarchy {
    pub use crate::hierarchy::{
        Arguments, Build, Clause, Codes, GeneralizationRule, Item, Kind, LevelRule, Part, Side, Takes,
    };
}
