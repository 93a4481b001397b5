//! VALUES: ground values and their labels, listed in the statement.
//!
//! The clause has one row per ground value: the value, followed by one label per level. The module
//! `listed` describes how the rows are checked, and how ground values are matched with the values
//! of a column.
//!
//! Example: `CREATE HIERARCHY sex AS VALUES ('female', 'any'), ('male', 'any')`.
//!
//! Reference: Sweeney, Achieving k-anonymity privacy protection using generalization and
//! suppression, 2002, doi:10.1142/S021848850200165X (value generalization hierarchies).

use super::arguments::text;
use super::clause::{Clause, Item, Kind, Part, Takes};
use super::listed::{Listed, Origin};
use crate::base::catalogue::{Info, Value};
use crate::base::error::Result;
use std::sync::Arc;

/// Returns the rule that lists these rows. A row consists of a ground value and its labels; `None`
/// means NULL. Fails if the rows do not form a hierarchy.
pub fn listed(rows: &[Vec<Option<String>>]) -> Result<Listed> {
    let origin = Origin {
        kind: KIND.info.name,
        clause: None,
    };
    Listed::from_rows(origin, rows)
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "values",
        summary: "ground values and their labels, listed in the statement",
        params: &[],
        example: "CREATE HIERARCHY sex AS VALUES ('female', 'any'), ('male', 'any')",
        reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
    },
    clause: Clause {
        start: "AS VALUES",
        syntax: "AS VALUES ('female', 'any'), ('male', 'any')",
        parts: &[Part::First(
            "rows",
            Takes::Rows("ground value, label", Item::Literal, "a value"),
        )],
    },
    build: |given| {
        // The only unquoted word among the literals is NULL.
        let value = |v: &Value| (!matches!(v, Value::Word(_))).then(|| text(v));
        let rows = given.rows("rows").iter().map(|row| row.iter().map(value).collect());
        Ok(Arc::new(listed(&rows.collect::<Vec<_>>())?))
    },
};
