//! The ladder of each released label, which consists of the label and all more general labels above
//! it. Ladders are recomputed from the hierarchy and the values of the source.

use super::bind::bind;
use super::released::{Generalized, Promise, ReleasedTable};
use super::sql::{register, type_of, with_one_zero};
use crate::base::error::Result;
use crate::base::quoting::{literal, quote};
use crate::data::model::Ladder;
use crate::method::hierarchy::{Level, Lookup, OnUnmapped, plain_type, texts};
use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array};
use arrow::compute::kernels::cmp::eq;
use arrow::compute::{concat, filter, nullif, take};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

impl ReleasedTable {
    /// Returns the ladders of the labels of a promise's quasi-identifiers, from the released level
    /// to the top. Fails with a usage error if the labels are not known.
    pub(super) async fn ladders(&self, session: &SessionContext, promise: &Promise<'_>) -> Result<Vec<Ladder>> {
        let whole = self.whole_for(promise, "rows of the source around each class")?;
        let mut ladders = vec![];
        for column in promise.groupings.iter().flatten() {
            let known = self.known_level(column, promise)?;
            ladders.push(
                known
                    .ladder(session, whole, self.empty_is_null.contains(column))
                    .await?,
            );
        }
        Ok(ladders)
    }
}

impl Generalized {
    /// Registers the labels of the column's values as tables. If `empty_is_null` is true, a label
    /// that is an empty text becomes NULL.
    async fn ladder(&self, session: &SessionContext, whole: &str, empty_is_null: bool) -> Result<Ladder> {
        let (values, lookup) = bind(session, whole, &self.column, &self.hierarchy).await?;
        // The hierarchy suppresses rows with unmapped values at every node, so these values are in
        // no class.
        let suppresses = self.hierarchy.on_unmapped() == OnUnmapped::Suppress;
        let is_in = |code| !(suppresses && lookup.is_unmapped(code));
        let is_in: BooleanArray = (0..values.len()).map(|code| Some(is_in(code))).collect();
        let text = |level: &Level| label_of_each(level, &is_in, empty_is_null);
        let own = text(lookup.level(self.level))?;
        let value = filter(&values, &is_in)?;
        let name = format!("labels of {}", self.column);
        register(session, &name, vec![("value", value), ("label", Arc::clone(&own))])?;
        let above = format!("labels above those of {}", self.column);
        register(session, &above, levels_above(&lookup, self.level, &own, text)?)?;
        let distinct = format!("(SELECT DISTINCT label, level, above FROM {})", quote(&above));
        let data_type = type_of(session, whole, &self.column).await?;
        let value = match plain_type(&data_type) {
            same if *same == data_type => quote(&self.column),
            // Not every dictionary type can be joined on.
            plain => format!("arrow_cast({}, {})", quote(&self.column), literal(&plain.to_string())),
        };
        Ok(Ladder {
            value: with_one_zero(&value, &data_type),
            labels: quote(&name),
            above: distinct,
        })
    }
}

/// Returns the columns `label`, `level` and `above`, with one row for each value at each level from
/// `from` to the top.
fn levels_above(
    lookup: &Lookup,
    from: u8,
    own: &ArrayRef,
    text: impl Fn(&Level) -> Result<ArrayRef>,
) -> Result<Vec<(&'static str, ArrayRef)>> {
    let (mut labels, mut levels, mut above) = (vec![], vec![], vec![]);
    for number in from..=lookup.top() {
        labels.push(Arc::clone(own));
        levels.extend(std::iter::repeat_n(i64::from(number), own.len()));
        above.push(text(lookup.level(number))?);
    }
    let joined = |parts: &[ArrayRef]| concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    Ok(vec![
        ("label", joined(&labels)?),
        ("level", Arc::new(Int64Array::from(levels))),
        ("above", joined(&above)?),
    ])
}

/// Returns the text of the label at `level`, for each value that is in a class.
fn label_of_each(level: &Level, is_in: &BooleanArray, empty_is_null: bool) -> Result<ArrayRef> {
    let labels = texts(&level.labels)?;
    let of_each = take(&labels, &UInt32Array::from(level.codes.clone()), None)?;
    let labels = filter(&of_each, is_in)?;
    Ok(match empty_is_null {
        true => nullif(&labels, &eq(&labels, &StringArray::new_scalar(""))?)?,
        false => labels,
    })
}
