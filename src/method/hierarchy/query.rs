//! AS query: a hierarchy that lists the rows of a query. The query is executed only once.
//!
//! Column 1 contains the ground value. One column per level follows. The module `listed` describes
//! how the rows are checked. The rows are stored in the hierarchy, and SHOW HIERARCHIES prints the
//! hierarchy with AS VALUES.
//!
//! Example: `CREATE HIERARCHY city AS SELECT city, region, country FROM places`.
//!
//! Reference: Sweeney, Achieving k-anonymity privacy protection using generalization and
//! suppression, 2002, doi:10.1142/S021848850200165X (value generalization hierarchies).

use super::clause::{Clause, Kind, Part, Takes};
use super::listed::{Listed, Origin};
use super::places::Places;
use crate::base::catalogue::Info;
use crate::base::error::Error;
use std::sync::Arc;

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "query",
        summary: "the rows of a query: column 1 the ground value, then one column per level",
        params: &[],
        example: "CREATE HIERARCHY city AS SELECT city, region, country FROM places",
        reference: "Sweeney, 2002, doi:10.1142/S021848850200165X",
    },
    clause: Clause {
        start: "AS",
        syntax: "AS <query>",
        parts: &[Part::First("query", Takes::Query)],
    },
    build: |given| {
        let columns = given.query("query").map(|rows| rows.columns()).unwrap_or_default();
        let (ground, labels) = columns
            .split_first()
            .ok_or_else(|| Error::usage("the query of a hierarchy returns no columns"))?;
        let origin = Origin {
            kind: KIND.info.name,
            clause: None,
        };
        Ok(Arc::new(Listed::try_new(origin, ground, labels, Places::Rows)?))
    },
};
