//! The values of the source that the base frequency set does not distinguish, because one code
//! stands for several of them, such as all ages above 90.

use super::disclosure::sizes;
use super::facts::ReleaseFacts;
use crate::engine::verify::WHOLE;
use crate::error::Result;
use crate::frequency::Base;
use crate::hierarchy::Lookup;
use crate::recount::ReleasedTable;
use crate::risk::Histogram;
use arrow::array::Array;
use datafusion::common::{Column, ScalarValue};
use datafusion::datasource::ViewTable;
use datafusion::prelude::{Expr, lit};
use std::sync::Arc;

/// The table name of the rows with merged values in the recounting session.
const MERGED: &str = "raw_merged";
/// The maximum number of values that a condition lists.
const MOST: usize = 1_000;

/// The values of each quasi-identifier that share a label with another value.
pub(super) struct Merged<'a> {
    base: &'a Base,
    /// For each quasi-identifier and ground code: whether another value has the same label.
    values: Vec<Vec<bool>>,
}

impl<'a> Merged<'a> {
    pub(super) fn of(base: &'a Base) -> Self {
        let lookups = base.key_schema.lookups().iter();
        Self {
            base,
            values: lookups.map(|lookup| lookup.merged()).collect(),
        }
    }

    /// Returns true if no value is merged, so that the base frequency set has the classes of the
    /// source.
    pub(super) fn is_empty(&self) -> bool {
        self.values.iter().flatten().all(|merged| !merged)
    }

    /// Returns true if a class of the base frequency set may contain several classes of the source.
    pub(super) fn has(&self, class: &[u64]) -> bool {
        let layout = self.base.key_schema.layout();
        let mut values = self.values.iter().enumerate();
        values.any(|(column, merged)| merged[layout.code(class, column) as usize])
    }

    /// Returns the condition for rows with a merged value. Returns `None` if there are too many
    /// merged values to list, or if a column of floating-point numbers has merged values, because
    /// its two zeros compare as different values but count as one.
    fn condition(&self, columns: &[String]) -> Result<Option<Expr>> {
        let mut condition = lit(false);
        for ((name, merged), lookup) in columns.iter().zip(&self.values).zip(self.base.key_schema.lookups()) {
            let of_column: Vec<usize> = (0..merged.len()).filter(|code| merged[*code]).collect();
            if of_column.is_empty() {
                continue;
            }
            if of_column.len() > MOST || lookup.values().data_type().is_floating() {
                return Ok(None);
            }
            condition = condition.or(is_one_of(name, lookup, &of_column)?);
        }
        Ok(Some(condition))
    }
}

/// Returns the condition that a column has one of the values with these ground codes.
fn is_one_of(name: &str, lookup: &Lookup, codes: &[usize]) -> Result<Expr> {
    let column = || Expr::Column(Column::from_name(name));
    let (null, known): (Vec<usize>, Vec<usize>) = codes.iter().partition(|code| lookup.values().is_null(**code));
    let values = known
        .into_iter()
        .map(|code| Ok(lit(ScalarValue::try_from_array(lookup.values(), code)?)));
    let is_listed = column().in_list(values.collect::<Result<_>>()?, false);
    Ok(match null.is_empty() {
        true => is_listed,
        false => is_listed.or(column().is_null()),
    })
}

impl ReleaseFacts<'_> {
    /// Returns the sizes of the classes of the source that contain a merged value. Returns `None`
    /// if these classes cannot be counted separately.
    pub(super) async fn sizes_of_merged(&self, merged: &Merged<'_>) -> Result<Option<Histogram>> {
        let session = &self.recounted.session;
        let columns: Vec<String> = self
            .job
            .roles
            .quasi_identifiers
            .iter()
            .map(|q| q.column.clone())
            .collect();
        let Some(condition) = merged.condition(&columns)? else {
            return Ok(None);
        };
        let (_, plan) = session.table(WHOLE).await?.filter(condition)?.into_parts();
        session.register_table(MERGED, Arc::new(ViewTable::new(plan, None)))?;
        let table = ReleasedTable {
            name: MERGED.into(),
            quasi_identifiers: columns,
            ..ReleasedTable::default()
        };
        sizes(session, &table).await
    }
}
