//! Executes the first scan.

use super::columns::{Columns, DetailRequest};
use super::tally::Tally;
use crate::base::error::{Error, Result};
use crate::base::pool::{blocking, check_cancelled};
use crate::base::spill::SpillSpace;
use crate::data::frequency::encode::Dictionary;
use crate::method::key::partitioned::bytes_to_group;
use arrow::array::{Array, ArrayRef};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// The counts of one scan, and the dictionaries of its columns.
#[derive(Debug)]
pub struct Scan {
    pub(crate) rows: u64,
    pub(crate) dictionaries: Vec<Dictionary>,
    pub(crate) details: Vec<(DetailRequest, Vec<Dictionary>)>,
    pub(crate) tallies: Vec<Tally>,
}

impl Scan {
    /// Counts the rows of `streams`, each in its own task, within the memory of `spill_space`.
    /// Combinations that do not fit in this memory are written to files, if files are allowed. The
    /// number of rows is added to `progress` after each batch.
    pub async fn read(
        columns: &Columns,
        streams: Vec<SendableRecordBatchStream>,
        spill_space: &SpillSpace,
        progress: Arc<AtomicU64>,
    ) -> Result<Self> {
        // Half of the memory is kept free, because merging the partitions takes as much memory as
        // the partitions themselves.
        let share = spill_space
            .left()
            .map_or(usize::MAX, |left| left / 2 / streams.len().max(1));
        Self::within(columns, streams, spill_space, share, progress).await
    }

    /// Counts the rows like [`Scan::read`], but with `share` bytes for the combinations of each
    /// partition.
    pub(crate) async fn within(
        columns: &Columns,
        streams: Vec<SendableRecordBatchStream>,
        spill_space: &SpillSpace,
        share: usize,
        progress: Arc<AtomicU64>,
    ) -> Result<Self> {
        let mut tasks = JoinSet::new();
        for (number, mut stream) in streams.into_iter().enumerate() {
            let mut tally = Tally::new(columns, &stream.schema(), spill_space, share, number == 0)?;
            let own = columns.clone();
            let progress = Arc::clone(&progress);
            tasks.spawn(async move {
                while let Some(batch) = stream.next().await {
                    let batch = batch.map_err(Error::from_data)?;
                    let before = tally.rows;
                    if !tally.add(&own, &batch)? {
                        let (mut full, columns) = (tally, own.clone());
                        let make_room = move || full.make_room(&columns).map(|()| full);
                        tally = blocking("writing combinations", make_room).await?;
                    }
                    progress.fetch_add(tally.rows - before, Ordering::Relaxed);
                    // The task yields after every batch, and not only when Tokio's budget for the
                    // task is used up, so that it stops soon after the scan is dropped.
                    tokio::task::yield_now().await;
                }
                tally.finish();
                Ok::<_, Error>((number, tally))
            });
        }
        let mut tallies = vec![];
        while let Some(done) = tasks.join_next().await {
            tallies.push(done.map_err(|e| Error::from_task("a scan task", &e))??);
        }
        tallies.sort_by_key(|(number, _)| *number);
        let tallies: Vec<Tally> = tallies.into_iter().map(|(_, tally)| tally).collect();
        let columns = columns.clone();
        blocking("ordering the values of a scan", move || Self::of(tallies, &columns)).await
    }

    /// Combines the counts of the partitions, and sorts the values of all partitions in ascending
    /// order.
    fn of(tallies: Vec<Tally>, columns: &Columns) -> Result<Self> {
        Ok(Self {
            rows: tallies.iter().map(|t| t.rows).sum(),
            dictionaries: columns
                .quasi_identifiers
                .iter()
                .map(|(_, s)| check_cancelled().and_then(|()| s.finish()))
                .collect::<Result<_>>()?,
            details: columns
                .details
                .iter()
                .map(|(request, shared)| {
                    Ok((
                        request.clone(),
                        shared
                            .iter()
                            .map(|s| check_cancelled().and_then(|()| s.finish()))
                            .collect::<Result<_>>()?,
                    ))
                })
                .collect::<Result<_>>()?,
            tallies,
        })
    }

    /// Updates the dictionaries of the quasi-identifiers after a later scan with the same
    /// `columns`. The scan of a population may find values that the sample lacks, and these values
    /// change the ranks of the other values.
    pub fn refresh(&mut self, columns: &Columns) -> Result<()> {
        let columns = columns.quasi_identifiers.iter().map(|(_, shared)| shared.finish());
        self.dictionaries = columns.collect::<Result<_>>()?;
        Ok(())
    }

    /// Returns the number of rows read.
    #[cfg(feature = "internal-api")]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns true if combinations are in files.
    pub(crate) fn is_spilled(&self) -> bool {
        self.tallies.iter().any(Tally::is_spilled)
    }

    /// Returns true if combinations may be written to files.
    pub(crate) fn may_spill(&self) -> bool {
        self.tallies.iter().all(Tally::may_spill)
    }

    /// Returns the number of bytes that merging the partitions needs in addition to the partitions.
    /// `words` is the number of words in a merged key.
    pub(crate) fn bytes_to_merge(&self, words: usize) -> usize {
        let groups: usize = self.tallies.iter().map(|t| t.grouper.len()).sum();
        let entries = (0..self.details.len()).map(|detail| {
            self.tallies
                .iter()
                .map(|t| t.details[detail].counts.len())
                .sum::<usize>()
        });
        let (all, most) = entries.fold((0, 0), |(all, most), n| (all + n, most.max(n)));
        // Memory for the translated keys, the class of each group, the position of each class in
        // ascending order, and the ordered set with its counts.
        let classes = bytes_to_group(groups, words) + groups * (2 * words * 8 + 8 + 16 + 4 + 8);
        // Memory for the entries of one detail at a time (as read, bucketed by class, and sorted),
        // and for the results of all details.
        classes + most * (24 + 4 + 16 + 4) + all * 12
    }

    /// Returns the distinct values of quasi-identifier `column`, in ascending order with NULL last.
    pub fn values(&self, column: usize) -> &ArrayRef {
        &self.dictionaries[column].values
    }

    /// Returns the number of rows with each value of quasi-identifier `column`, in the order of
    /// [`Scan::values`].
    pub fn value_counts(&self, column: usize) -> Vec<u64> {
        let dictionary = &self.dictionaries[column];
        let mut counts = vec![0; dictionary.values.len()];
        for tally in &self.tallies {
            for (rank, rows) in dictionary.ranks.iter().zip(tally.marginal(column)) {
                counts[*rank as usize] += rows;
            }
        }
        counts
    }
}
