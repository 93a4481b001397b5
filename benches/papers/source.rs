//! The papers' tables as jobs, and lattices whose nodes are evaluated in advance.

use crate::Plan;
use crate::request;
use anonsql::error::Result;
use anonsql::internal::job::{Job, Sensitive, SourceTable, SuppressionLimit};
use anonsql::internal::lattice::{Lattice, Node};
use anonsql::internal::search::{Assessment, Counters, Oracle};
use anonsql::internal::source::Pins;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

/// A table with its hierarchies, and the request for it.
pub struct Table<'a> {
    /// The file of the table, without its extension.
    pub file: &'a str,
    /// The folder of the hierarchies.
    pub hierarchies: &'a str,
    /// The quasi-identifiers.
    pub columns: &'a [&'a str],
    /// The sensitive attribute.
    pub sensitive: Option<&'a str>,
    /// The class label.
    pub label: Option<&'a str>,
    /// The k of k_anonymity(k).
    pub k: i64,
    /// The maximum number of suppressed rows.
    pub limit: u64,
}

impl Table<'_> {
    /// Returns the job that releases the table.
    pub async fn job(&self, plan: &Plan) -> Job {
        let data = plan.shared.join("data");
        let path = data.join(format!("{}.parquet", self.file)).display().to_string();
        let session = SessionContext::new();
        let rows = session
            .read_parquet(path, ParquetReadOptions::default())
            .await
            .expect("the table");
        let all: Vec<&str> = self
            .columns
            .iter()
            .copied()
            .chain(self.sensitive)
            .chain(self.label)
            .collect();
        let source = SourceTable {
            name: self.file.into(),
            rows: rows.select_columns(&all).expect("the columns"),
            files: vec![],
            depends: None,
            pins: Pins::default(),
        };
        let sensitive = self.sensitive.map(|column| Sensitive {
            column: column.into(),
            hierarchy: None,
            randomization: None,
        });
        let limit = SuppressionLimit::Rows(self.limit);
        let mut job = request::job(source, self.columns, &data.join(self.hierarchies), self.k, limit, "dm");
        job.roles.sensitive = sensitive.into_iter().collect();
        job.roles.class_label = self.label.map(Into::into);
        job
    }
}

/// A lattice whose nodes were all evaluated in advance.
pub struct Known<'a> {
    /// The oracle for the lattice and the table.
    pub of: &'a dyn Oracle,
    /// The assessment of each node, by its index in the lattice.
    pub nodes: &'a (dyn Fn(usize) -> Assessment + Sync),
    /// The maximum number of suppressed rows.
    pub limit: u64,
    /// True if the first objective is dm under k-anonymity. Only then are the bounds valid.
    pub bounds: bool,
}

impl Oracle for Known<'_> {
    fn lattice(&self) -> &Lattice {
        self.of.lattice()
    }

    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>> {
        let index = |node: &Node| self.lattice().index_of(node) as usize;
        Ok(nodes.iter().map(|node| (self.nodes)(index(node))).collect())
    }

    fn bound(&self, node: &Node, _: u64) -> f64 {
        if self.bounds {
            self.of.bound(node, 0)
        } else {
            f64::NEG_INFINITY
        }
    }

    fn is_monotone(&self) -> bool {
        self.bounds
    }

    fn suppression_is_monotone(&self) -> bool {
        self.bounds
    }

    fn excess_is_monotone(&self) -> bool {
        self.bounds
    }

    fn distinct_values(&self, position: usize, level: u8) -> u64 {
        self.of.distinct_values(position, level)
    }

    fn effective_values(&self, position: usize, level: u8) -> f64 {
        self.of.effective_values(position, level)
    }

    fn rows(&self) -> u64 {
        self.of.rows()
    }

    fn suppression_limit(&self) -> u64 {
        self.limit
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
