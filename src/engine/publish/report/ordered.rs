//! The classes of a release, one after the other. Rows are released in the order of their classes,
//! so only one class is in memory at a time.

use super::disclosed::{Counted, Disclosed, ReadingPlans, base_of, distances};
use crate::error::{Error, Result};
use crate::frequency::{Local, Scan};
use crate::model::Predicate;
use crate::pool::{Pool, map};
use crate::recount::ReleasedTable;
use crate::spill::SpillSpace;
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::physical_plan::{ExecutionPlanProperties, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads the rows of a release in their order. Returns `None` if the number of runs of equal
/// quasi-identifiers is not `classes`: the rows of a class are then not consecutive, as in a
/// release that is partitioned by another column. Also returns `None` if the values of the source
/// are not known.
pub(super) async fn ordered(
    session: &SessionContext,
    released: &ReleasedTable,
    attributes: &[&str],
    classes: u64,
) -> Result<Option<Counted>> {
    let Some(reading) = ReadingPlans::of(session, 1, released, attributes).await? else {
        return Ok(None);
    };
    let spill_space = SpillSpace::of(&session.task_ctx());
    let Some(whole) = reading.count_whole(&spill_space, session).await? else {
        return Ok(None);
    };
    if reading.released.output_partitioning().partition_count() != 1 {
        return Ok(None);
    }
    // No row is counted here, because distances are measured from the whole table.
    let nothing = Scan::read(&reading.columns, vec![], &spill_space, Default::default()).await?;
    let base = base_of(nothing, &reading.keys, Some(&whole), &spill_space)?;
    let held = spill_space.reservation("anonsql disclosure");
    held.try_resize(2 * reading.columns.bytes()).map_err(Error::from_data)?;
    let of_attributes = reading.columns.details.iter().enumerate().map(|(i, (_, shared))| {
        Ok(Mutex::new(Attribute {
            local: Local::new(Arc::clone(&shared[0]), false)?,
            ranks: shared[0].finish()?.ranks,
            codes: vec![],
            farthest: distances(&base, i)?,
            found: Disclosed::default(),
        }))
    });
    let of_attributes: Arc<Vec<Mutex<Attribute>>> = Arc::new(of_attributes.collect::<Result<_>>()?);
    let keys = reading.columns.quasi_identifiers.iter().map(|(_, shared)| shared);
    let mut runs = Runs {
        locals: Local::views(keys, false)?,
        last: None,
        size: 0,
        sizes: BTreeMap::new(),
        number: 0,
    };
    let pool = Pool::of(&session.copied_config());
    let mut stream = execute_stream(reading.released, session.task_ctx()).map_err(Error::from_data)?;
    let mut next = stream.next().await;
    while let Some(batch) = next {
        let batch = batch.map_err(Error::from_data)?;
        let ends = runs.add(&batch)?;
        if runs.number > classes {
            return Ok(None);
        }
        let own = Arc::clone(&of_attributes);
        let count = move || {
            let first = batch.num_columns() - own.len();
            let counted = map(own.len(), |i| own[i].lock().add(batch.column(first + i), &ends));
            counted.into_iter().try_fold(true, |all, known| Ok(all & known?))
        };
        // The next rows are decoded while these rows are counted.
        let (following, known) = futures::join!(stream.next(), pool.compute("measuring what is disclosed", count));
        if !known? {
            return Ok(None);
        }
        next = following;
    }
    runs.end();
    let of_attributes =
        Arc::into_inner(of_attributes).ok_or_else(|| Error::internal("a task goes on after its end"))?;
    let disclosed = of_attributes.into_iter().map(|attribute| attribute.into_inner().end());
    Ok((runs.number == classes).then(|| Counted {
        disclosed: disclosed.collect(),
        sizes: runs.sizes.into_iter().collect(),
    }))
}

/// The runs of consecutive rows with equal quasi-identifiers, counted by size.
struct Runs {
    locals: Vec<Local>,
    /// The codes of the quasi-identifiers in the last row.
    last: Option<Vec<u32>>,
    /// The number of rows of the run that has not ended.
    size: u64,
    /// For each size of a run in rows, the number of runs of this size.
    sizes: BTreeMap<u64, u64>,
    /// The number of runs, including the run that has not ended.
    number: u64,
}

impl Runs {
    /// Adds the rows of a batch. Returns the rows at which one run ends and the next run begins.
    fn add(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let arrays = self.locals.iter_mut().zip(batch.columns());
        let codes: Vec<Vec<u32>> = arrays
            .map(|(local, array)| local.encode(array))
            .collect::<Result<_>>()?;
        let row = |row: usize| codes.iter().map(|codes| codes[row]).collect::<Vec<u32>>();
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(vec![]);
        }
        let mut ends: Vec<usize> = match &self.last {
            Some(last) if *last != row(0) => vec![0],
            _ => vec![],
        };
        ends.extend((1..rows).filter(|row| codes.iter().any(|codes| codes[*row] != codes[row - 1])));
        self.number += ends.len() as u64 + u64::from(self.last.is_none());
        let mut from = 0;
        for end in &ends {
            self.size += (end - from) as u64;
            self.end();
            from = *end;
        }
        self.size += (rows - from) as u64;
        self.last = Some(row(rows - 1));
        Ok(ends)
    }

    /// Ends the last run, if it has rows, and counts its size.
    fn end(&mut self) {
        if self.size > 0 {
            *self.sizes.entry(self.size).or_default() += 1;
        }
        self.size = 0;
    }
}

/// The values of one attribute in the class that has not ended.
struct Attribute {
    local: Local,
    /// For each code, the rank of its value in the source.
    ranks: Vec<u32>,
    /// The ranks of the values of the class, row by row.
    codes: Vec<u32>,
    farthest: Box<dyn Predicate>,
    found: Disclosed,
}

impl Attribute {
    /// Adds rows. A class ends at each of `ends`. Returns false if the source does not have one of
    /// the values.
    fn add(&mut self, array: &ArrayRef, ends: &[usize]) -> Result<bool> {
        let codes = self.local.encode(array)?;
        let ranks: Option<Vec<u32>> = codes
            .iter()
            .map(|code| self.ranks.get(*code as usize).copied())
            .collect();
        let Some(ranks) = ranks else {
            return Ok(false);
        };
        let mut from = 0;
        for end in ends {
            self.codes.extend_from_slice(&ranks[from..*end]);
            self.close();
            from = *end;
        }
        self.codes.extend_from_slice(&ranks[from..]);
        Ok(true)
    }

    /// Adds the figures of the class that ends here.
    fn close(&mut self) {
        self.codes.sort_unstable();
        let values = self.codes.chunk_by(|one, other| one == other);
        let histogram: Vec<(u32, u64)> = values.map(|rows| (rows[0], rows.len() as u64)).collect();
        if !histogram.is_empty() {
            self.found
                .add(self.codes.len() as u64, &histogram, self.farthest.as_ref());
        }
        self.codes.clear();
    }

    fn end(mut self) -> Disclosed {
        self.close();
        self.found
    }
}
