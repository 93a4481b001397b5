//! SUPPRESSION: the value itself, then `*`.
//!
//! The hierarchy has only these two levels. It is the default for a quasi-identifier without a
//! hierarchy. It accepts columns of numbers, strings, booleans, dates and times. It is an error if
//! the column contains binary data, durations, nested values, NaN or infinity.
//!
//! Example: `CREATE HIERARCHY all_or_nothing AS SUPPRESSION`.
//!
//! Reference: Samarati and Sweeney, Protecting privacy when disclosing information, 1998
//! (suppression as the top of a value generalization hierarchy).

use super::clause::{Clause, Kind};
use super::exceptions::{OnNull, OnUnmapped};
use super::ground;
use super::named::Hierarchy;
use super::rule::{GeneralizationRule, LevelRule};
use crate::base::catalogue::Info;
use crate::base::error::Result;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The rule with two levels: the value itself, and `*`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Suppression;

impl Hierarchy {
    /// Returns the hierarchy for a quasi-identifier for which the statement names no hierarchy.
    pub fn suppression_of(column: &str) -> Result<Arc<Self>> {
        let name = format!("suppression of {column}");
        let hierarchy = Self::new(name, Arc::new(Suppression), OnUnmapped::Error, OnNull::Value)?;
        Ok(Arc::new(hierarchy))
    }
}

impl GeneralizationRule for Suppression {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        0
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        ground::has_text(data_type)
    }

    fn labels(&self, _values: &ArrayRef) -> Result<Vec<StringArray>> {
        Ok(vec![])
    }

    fn is_free_of_data(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        "AS SUPPRESSION".to_string()
    }

    fn describe(&self) -> Vec<LevelRule> {
        vec![]
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "suppression",
        summary: "the value itself, then *",
        params: &[],
        example: "CREATE HIERARCHY all_or_nothing AS SUPPRESSION",
        reference: "Samarati and Sweeney, 1998",
    },
    clause: Clause {
        start: "AS SUPPRESSION",
        syntax: "AS SUPPRESSION",
        parts: &[],
    },
    build: |_| Ok(Arc::new(Suppression)),
};
