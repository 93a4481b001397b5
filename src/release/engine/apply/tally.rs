//! The counts of a column that is to be randomized, and the permutation drawn from them.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::spill::SpillSpace;
use crate::data::recode::DistinctRows;
use crate::data::recode::randomize::{
    ContingencyTable, Grouped, Order, Permutation, RandomSource, Sequence, Spread, mutual_information,
};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::Schema;
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// The values of a column with their counts, collected in one scan.
pub(super) struct ColumnTally {
    values: DistinctRows,
    counts: Vec<u64>,
    /// The counts by class, if they are needed.
    pub(super) classes: Option<ContingencyTable>,
    /// The counts by group, if other columns define groups.
    groups: Option<(DistinctRows, ContingencyTable)>,
    reservation: MemoryReservation,
    pub(super) column: String,
}

impl ColumnTally {
    pub(super) fn new(
        column: &str,
        schema: &Schema,
        within: &[String],
        by_class: bool,
        spill_space: &SpillSpace,
    ) -> Result<Self> {
        let data_type = |name: &str| Ok::<_, Error>(schema.field_with_name(name)?.data_type());
        let types = within.iter().map(|name| data_type(name)).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            values: DistinctRows::new([data_type(column)?])?,
            counts: vec![],
            classes: by_class.then(|| ContingencyTable::new(spill_space)),
            groups: match within.is_empty() {
                true => None,
                false => Some((DistinctRows::new(types)?, ContingencyTable::new(spill_space))),
            },
            reservation: spill_space.reservation("anonsql permutation"),
            column: column.into(),
        })
    }

    /// Counts the rows with these `values`, and returns the code of each value. `classes` contains
    /// the class of each row, and `within` contains the columns that define groups of rows.
    pub(super) fn add(&mut self, classes: &[u32], within: &[ArrayRef], values: &ArrayRef) -> Result<Vec<u32>> {
        let codes = self.values.intern(std::slice::from_ref(values))?;
        self.counts.resize(self.values.len(), 0);
        codes.iter().for_each(|code| self.counts[*code as usize] += 1);
        if let Some(table) = &mut self.classes {
            table.add(classes, &codes)?;
        }
        let mut held = self.values.bytes() + self.counts.capacity() * 8;
        if let Some((distinct, table)) = &mut self.groups {
            table.add(&distinct.intern(within)?, &codes)?;
            held += distinct.bytes();
        }
        self.reservation.try_resize(held).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the memory limit is reached with {} distinct values of {}, which are held while it is randomized; \
                     raise --memory-limit, or coarsen the column in a query",
                    self.values.len(),
                    self.column
                ),
            )
        })?;
        Ok(codes)
    }
}

/// The counts of a column after its scan, indexed by the rank of a value instead of its order of
/// appearance.
pub(super) struct Counted {
    column: String,
    values: ArrayRef,
    counts: Vec<u64>,
    pub(super) ranks: Vec<u32>,
    classes: Option<ContingencyTable>,
    groups: Option<(DistinctRows, ContingencyTable)>,
    before: Option<f64>,
    held: MemoryReservation,
}

impl Counted {
    pub(super) fn of(tally: ColumnTally) -> Result<Self> {
        let (columns, ranks) = tally.values.finish()?;
        let values = columns
            .into_iter()
            .next()
            .ok_or_else(|| Error::internal("a column was lost"))?;
        let mut counts = vec![0; ranks.len()];
        for (number, rank) in ranks.iter().enumerate() {
            counts[*rank as usize] = tally.counts[number];
        }
        // Less memory is held now than while counting.
        tally.reservation.free();
        let _ = tally
            .reservation
            .try_resize(values.get_array_memory_size() + counts.len() * 8);
        Ok(Self {
            column: tally.column,
            values,
            counts,
            ranks,
            classes: tally.classes,
            groups: tally.groups,
            before: None,
            held: tally.reservation,
        })
    }

    fn measure(&mut self, classes: &Spread, pairs: &Spread) {
        self.before = Some(mutual_information(classes, &Spread::of(&self.counts), pairs));
    }

    pub(super) fn permuted(mut self, order: Order) -> Result<Permutation> {
        if let Some(table) = self.classes.take() {
            let (classes, mut pairs) = (Spread::of(table.groups()), Spread::default());
            table.pairs(|_, _, n| pairs.add(n))?;
            self.measure(&classes, &pairs);
        }
        Ok(Permutation {
            column: self.column,
            values: self.values,
            counts: self.counts,
            order,
            before: self.before,
            _held: self.held,
        })
    }
}

/// Draws the permutation of a counted column: within classes if `in_classes` gives their number,
/// within the groups of `columns`, or over all rows.
pub(super) fn finish(
    tally: ColumnTally,
    columns: Vec<String>,
    in_classes: Option<usize>,
    source: RandomSource,
    spill_space: &SpillSpace,
) -> Result<Permutation> {
    let mut counted = Counted::of(tally)?;
    if let (Some(classes), Some(table)) = (in_classes, counted.classes.take_if(|_| in_classes.is_some())) {
        let same: Vec<u32> = (0..classes as u32).collect();
        let spread = Spread::of(table.groups());
        let (grouped, pairs) = Grouped::draw(table, &same, &counted.ranks, source, spill_space)?;
        counted.measure(&spread, &pairs);
        return counted.permuted(Order::Classes(Arc::new(grouped)));
    }
    if let Some((distinct, table)) = counted.groups.take() {
        let (keys, ranks) = distinct.finish()?;
        let (grouped, _) = Grouped::draw(table, &ranks, &counted.ranks, source, spill_space)?;
        return counted.permuted(Order::Groups {
            columns,
            keys: Arc::new(keys),
            grouped: Arc::new(grouped),
        });
    }
    let sequence = Sequence::draw(&counted.counts, source, spill_space)?;
    counted.permuted(Order::Rows(Arc::new(sequence)))
}
