//! The columns of a scan, and the details of classes: values that are counted in addition to rows.

use crate::base::error::Result;
use crate::data::frequency::encode::Shared;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// A detail of classes, which is counted in addition to their rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DetailRequest {
    /// The values of a column with their row counts, for sensitive attributes and class labels.
    Values(String),
    /// The distinct values of a column, for the entity column that ENTITY names.
    Distinct(String),
    /// The distinct pairs of an entity and a value. Each entity is then counted once per value.
    Pairs {
        /// The entity column.
        entity: String,
        /// The attribute column.
        values: String,
    },
}

impl DetailRequest {
    /// Returns the columns that the scan must read for the detail.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            DetailRequest::Values(c) | DetailRequest::Distinct(c) => vec![c],
            DetailRequest::Pairs { entity, values } => vec![entity, values],
        }
    }
}

/// The dictionaries of the columns. They are shared by the partitions of a scan, or by the scans of
/// a sample and its population.
#[derive(Debug, Clone)]
pub struct Columns {
    pub(crate) quasi_identifiers: Vec<(String, Arc<Shared>)>,
    pub(crate) details: Vec<(DetailRequest, Vec<Arc<Shared>>)>,
}

impl Columns {
    /// Creates dictionaries for the columns of a table with this schema.
    pub fn new(schema: &SchemaRef, quasi_identifiers: &[String], details: &[DetailRequest]) -> Result<Self> {
        let shared = |name: &str| -> Result<Arc<Shared>> {
            Ok(Arc::new(Shared::new(name, schema.field_with_name(name)?.data_type())?))
        };
        Ok(Self {
            quasi_identifiers: quasi_identifiers
                .iter()
                .map(|name| Ok((name.clone(), shared(name)?)))
                .collect::<Result<_>>()?,
            details: details
                .iter()
                .map(|d| Ok((d.clone(), d.columns().into_iter().map(shared).collect::<Result<_>>()?)))
                .collect::<Result<_>>()?,
        })
    }

    /// Returns these columns without the details. The dictionaries of the quasi-identifiers are
    /// shared.
    pub fn without_details(&self) -> Self {
        Self {
            quasi_identifiers: self.quasi_identifiers.clone(),
            details: vec![],
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let own: usize = self.quasi_identifiers.iter().map(|(_, s)| s.bytes()).sum();
        own + self
            .details
            .iter()
            .flat_map(|(_, s)| s)
            .map(|s| s.bytes())
            .sum::<usize>()
    }
}
