//! The values of the attributes in the source: the rank of each value, and its number of rows.

use super::disclosed::ReadingPlans;
use crate::base::error::{Error, Result};
use crate::base::pool::Pool;
use crate::data::frequency::{Local, Shared};
use crate::release::recount::{KnownColumn, KnownSource, NumberRanks};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The values of an attribute in the source.
pub(super) struct SourceValues {
    pub(super) ranks: ValueRanks,
    /// The number of rows with each value, in ascending order of the values, with NULL last.
    pub(super) counts: Vec<u64>,
}

/// The ranks of the values of an attribute.
pub(super) enum ValueRanks {
    /// The ranks of numbers.
    Numbers(Arc<NumberRanks>),
    /// For each code of the attribute's dictionary, the rank of its value.
    Codes(Vec<u32>),
}

impl ValueRanks {
    /// Returns the memory of the ranks in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            ValueRanks::Numbers(numbers) => numbers.bytes(),
            ValueRanks::Codes(ranks) => 4 * ranks.capacity(),
        }
    }
}

/// Counts the values of all attributes in one scan of the source, unless the source is `known`.
/// Returns `None` if the rows of the source are not known, or if the code of a number needs more
/// than 64 bits.
pub(super) async fn source_values(
    reading: &ReadingPlans,
    session: &SessionContext,
    (attributes, known): (&[&str], Option<&KnownSource>),
) -> Result<Option<Vec<SourceValues>>> {
    let Some(whole) = &reading.whole else {
        return Ok(None);
    };
    let of = |source: &KnownSource| -> Option<Vec<KnownColumn>> {
        let columns = attributes.iter().map(|attribute| source.column(attribute).cloned());
        columns.collect()
    };
    let columns = match known.and_then(of) {
        Some(columns) => columns,
        None => match KnownSource::of_plan(session, Arc::clone(whole), attributes, false).await? {
            Some(read) => of(&read).ok_or_else(|| Error::internal("an attribute was not read"))?,
            None => return Ok(None),
        },
    };
    let shared = reading.columns.details.iter().map(|(_, shared)| Arc::clone(&shared[0]));
    let shared: Vec<Arc<Shared>> = shared.collect();
    let values = move || {
        let columns = columns.into_iter().zip(&shared);
        columns.map(|(column, shared)| values(column, shared)).collect()
    };
    let pool = Pool::of(&session.copied_config());
    let found = pool.compute("ordering the values of the source", values);
    found.await.map(Some)
}

/// Returns the values of an attribute. `shared` is the dictionary of the attribute, which gets the
/// values unless they are numbers.
fn values(column: KnownColumn, shared: &Arc<Shared>) -> Result<SourceValues> {
    let ranks = match column.ranks {
        Some(ranks) => ValueRanks::Numbers(ranks),
        None => {
            Local::new(Arc::clone(shared), false)?.encode(&column.values)?;
            ValueRanks::Codes(shared.finish()?.ranks)
        }
    };
    Ok(SourceValues {
        ranks,
        counts: Arc::unwrap_or_clone(column.counts),
    })
}
