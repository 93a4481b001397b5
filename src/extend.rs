//! The types for implementing your own privacy model, metric, search or kind of hierarchy.
//!
//! An [`Entry`] describes a name with its parameters for SQL, and builds the object from checked
//! [`Arguments`]. After the entry is registered in an [`AnonContext`](crate::AnonContext),
//! statements, EXPLAIN, VERIFY, help and completion include it. The folder `examples` of the
//! repository contains a complete example for each of them, from the entry to a release.

pub use crate::base::catalogue::{Arguments, Entry, Info, Kind, Param};

/// Privacy models. Each has a predicate over one equivalence class, and an SQL query that checks
/// the same guarantee on the released rows.
pub mod model {
    pub use crate::data::model::{
        About, Audit, Build, Class, Comparison, Monotonicity, Overall, Predicate, PrivacyModel, Reads, Relation, Span,
        Subject,
    };
}

/// Quality metrics for nodes, with their bounds.
pub mod metric {
    pub use crate::data::metric::{Build, Measure, Metric, Reads, Subject, View};
}

/// Searches of the generalization lattice, which use an oracle.
pub mod search {
    pub use crate::method::lattice::{Lattice, Node};
    pub use crate::method::search::{Assessment, Build, Context, Finding, Oracle, Search, Stop};
}

/// Kinds of hierarchies, each with its clause of CREATE HIERARCHY, and the rule that labels values.
pub mod hierarchy {
    pub use crate::method::hierarchy::{
        Arguments, Build, Clause, Codes, GeneralizationRule, Item, Kind, LevelRule, Part, Side, Takes,
    };
}
