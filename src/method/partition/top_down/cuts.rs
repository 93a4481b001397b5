//! The cuts of a run, the classes that the cuts define, and the effect of refining each value.

use crate::base::error::{Error, Result};
use crate::method::hierarchy::Label;
use crate::method::partition::groups::Partition;
use crate::method::partition::table::{Column, Table};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{AddAssign, Range, SubAssign};

/// The outcome of a release for the rows of one or more classes.
#[derive(Debug, Clone, Copy, Default)]
struct Fate {
    /// The number of released rows.
    released: u64,
    /// The number of rows that are suppressed or lack the majority label of their class.
    errors: u64,
    /// The entropy of the class labels, summed over all rows, in units of 2^-20 bits.
    bits: u64,
}

const UNITS: f64 = (1u64 << 20) as f64;

impl AddAssign for Fate {
    fn add_assign(&mut self, other: Self) {
        self.released += other.released;
        self.errors += other.errors;
        self.bits += other.bits;
    }
}

impl SubAssign for Fate {
    fn sub_assign(&mut self, other: Self) {
        self.released -= other.released;
        self.errors -= other.errors;
        self.bits -= other.bits;
    }
}

/// A multiset of class sizes: each size with its count.
#[derive(Debug, Default)]
struct Sizes(BTreeMap<u64, u32>);

impl Sizes {
    fn add(&mut self, size: u64) {
        *self.0.entry(size).or_default() += 1;
    }

    fn remove(&mut self, size: u64) {
        if let Some(n) = self.0.get_mut(&size) {
            *n -= 1;
            if *n == 0 {
                self.0.remove(&size);
            }
        }
    }

    fn smallest(&self) -> Option<u64> {
        self.0.keys().next().copied()
    }
}

/// A value of a cut: a label of a column in the current release.
#[derive(Debug)]
struct Value {
    column: usize,
    level: u8,
    /// The lowest ground code under the value that occurs in the table.
    code: u32,
    /// The effect of refining the value; `None` if it has no children.
    refined: Option<Refined>,
}

/// The effect of refining a value, over all classes with the value.
#[derive(Debug, Default)]
struct Refined {
    /// The gain of the value in its column alone, in bits per row of the table; 0 unless
    /// `gain => values` is set.
    gain_of_value: f64,
    now: Fate,
    after: Fate,
    /// For each class, the size of its smallest released part after refining.
    smallest: Sizes,
}

/// An equivalence class: a range of `Cuts::combinations`.
#[derive(Debug, Clone)]
struct Class {
    combinations: Range<usize>,
    now: Fate,
    /// For each column: the effect on the class if its value in the column is refined, and the
    /// number of rows in the smallest part of the class that is then released.
    after: Vec<(Fate, u64)>,
}

/// The state of a run.
pub(super) struct Cuts<'a> {
    table: &'a dyn Table,
    gain_of_values: bool,
    /// The entropy in bits if all labels are equally frequent.
    most_bits: f64,
    /// The number of rows of all combinations.
    rows: u64,
    /// For each column: the ground codes that occur in the table.
    codes: Vec<Vec<u32>>,
    values: Vec<Value>,
    /// The indices of the values that have children.
    open: Vec<usize>,
    /// For each column and ground code: the index in `values` of the value that covers the code.
    value_of: Vec<Vec<u32>>,
    combinations: Vec<u32>,
    classes: Vec<Class>,
    released: u64,
    sizes: Sizes,
    tally: RefCell<Tally>,
}

/// The number of rows by class label.
#[derive(Default)]
struct Tally {
    rows: Vec<u64>,
    met: Vec<u32>,
}

impl Tally {
    /// Counts the class labels in the rows of `combinations`. Returns their entropy in bits,
    /// multiplied by the number of these rows, and the number of rows with the most frequent label.
    fn count(&mut self, table: &dyn Table, combinations: &[u32]) -> (f64, u64) {
        self.met.drain(..).for_each(|label| self.rows[label as usize] = 0);
        self.rows.resize(table.class_labels().unwrap_or(0), 0);
        for combination in combinations {
            table.for_each_class_label(*combination, &mut |label, n| {
                if self.rows[label as usize] == 0 {
                    self.met.push(label);
                }
                self.rows[label as usize] += n;
            });
        }
        self.met.sort_unstable();
        let counts = || self.met.iter().map(|label| self.rows[*label as usize]);
        let all = counts().sum::<u64>() as f64;
        let bits = counts().map(|n| n as f64 * (all / n as f64).log2());
        (bits.sum(), counts().max().unwrap_or(0))
    }
}

impl<'a> Cuts<'a> {
    /// Returns the state at the start of a run: every column is at the highest level that LEVELS
    /// allows.
    pub(super) fn at_the_top(table: &'a dyn Table, gain_of_values: bool) -> Result<Self> {
        let labels = table
            .class_labels()
            .ok_or_else(|| Error::internal("top_down without a class label"))?;
        let all = 0..table.len() as u32;
        let columns = 0..table.columns().len();
        let codes = columns.clone().map(|column| {
            let mut codes: Vec<u32> = all.clone().map(|c| table.code(column, c)).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        });
        let mut cuts = Self {
            table,
            gain_of_values,
            most_bits: (labels.max(1) as f64).log2(),
            rows: all.clone().map(|c| table.rows(c)).sum(),
            codes: codes.collect(),
            values: vec![],
            open: vec![],
            value_of: table
                .columns()
                .iter()
                .map(|c| vec![u32::MAX; c.lookup.values().len()])
                .collect(),
            combinations: all.collect(),
            classes: vec![],
            released: 0,
            sizes: Sizes::default(),
            tally: RefCell::default(),
        };
        for column in columns.clone() {
            cuts.add_values(column, cuts.codes[column].clone(), table.columns()[column].top);
        }
        for part in cuts.split(0..table.len(), columns) {
            cuts.add_class(part);
        }
        Ok(cuts)
    }

    fn column(&self, column: usize) -> &'a Column {
        &self.table.columns()[column]
    }

    fn value_of(&self, column: usize, combination: u32) -> u32 {
        self.value_of[column][self.table.code(column, combination) as usize]
    }

    /// Returns the index of the value of a class in a column.
    fn value(&self, class: &Class, column: usize) -> usize {
        self.value_of(column, self.combinations[class.combinations.start]) as usize
    }

    /// Groups ground codes of a column by their label at `level`, and adds one value per group. The
    /// level of a value is the lowest level at which the whole group has one label.
    fn add_values(&mut self, column: usize, codes: Vec<u32>, level: u8) {
        let Column { lookup, bottom, .. } = self.column(column);
        let mut by_label: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for code in codes {
            let label = lookup.level(level).representatives[code as usize];
            by_label.entry(label).or_default().push(code);
        }
        for codes in by_label.into_values() {
            let alike = |level: u8| {
                let labels = &lookup.level(level).codes;
                codes.iter().all(|c| labels[*c as usize] == labels[codes[0] as usize])
            };
            let level = (*bottom..=level).find(|level| alike(*level)).unwrap_or(level);
            let number = self.values.len();
            codes
                .iter()
                .for_each(|c| self.value_of[column][*c as usize] = number as u32);
            let refined = (level > *bottom).then(|| Refined {
                gain_of_value: if self.gain_of_values {
                    self.gain_of_value(column, level, &codes)
                } else {
                    0.0
                },
                ..Refined::default()
            });
            self.open.extend(refined.is_some().then_some(number));
            self.values.push(Value {
                column,
                level,
                code: codes[0],
                refined,
            });
        }
    }

    /// Returns the gain of refining the value at `level` that covers `codes`, in its column alone.
    fn gain_of_value(&self, column: usize, level: u8, codes: &[u32]) -> f64 {
        let children = &self.column(column).lookup.level(level - 1).codes;
        let has = |c: &u32| codes.binary_search(&self.table.code(column, *c)).is_ok();
        let mut members: Vec<u32> = (0..self.table.len() as u32).filter(has).collect();
        let child = |c: &u32| children[self.table.code(column, *c) as usize];
        members.sort_unstable_by_key(|c| (child(c), *c));
        let mut tally = self.tally.borrow_mut();
        let rows = self.rows_of(&members) as f64;
        let whole = tally.count(self.table, &members).0;
        let parts = members.chunk_by(|a, b| child(a) == child(b));
        let parts: f64 = parts.map(|part| tally.count(self.table, part).0).sum();
        // Rounding must not produce a gain if refining gains nothing.
        Some((whole - parts) / rows).filter(|gain| *gain > 1e-12).unwrap_or(0.0)
    }

    fn rows_of(&self, combinations: &[u32]) -> u64 {
        combinations.iter().map(|c| self.table.rows(*c)).sum()
    }

    fn fate(&self, combinations: &[u32]) -> Fate {
        let rows = self.rows_of(combinations);
        if !self.table.holds(combinations) {
            return Fate {
                released: 0,
                errors: rows,
                bits: (rows as f64 * self.most_bits * UNITS).round() as u64,
            };
        }
        let (bits, majority) = self.tally.borrow_mut().count(self.table, combinations);
        Fate {
            released: rows,
            errors: rows - majority,
            bits: (bits * UNITS).round() as u64,
        }
    }

    /// Returns the effect on a class if its value in a column is refined, and the number of rows in
    /// the smallest part of the class that is then released.
    fn after(&self, class: &Class, column: usize) -> (Fate, u64) {
        let Value { level, refined, .. } = &self.values[self.value(class, column)];
        let (mut fate, mut smallest) = (Fate::default(), u64::MAX);
        if refined.is_none() {
            return (fate, smallest);
        }
        let children = &self.column(column).lookup.level(level - 1).codes;
        let mut keyed: Vec<u64> = self.combinations[class.combinations.clone()]
            .iter()
            .map(|c| u64::from(children[self.table.code(column, *c) as usize]) << 32 | u64::from(*c))
            .collect();
        keyed.sort_unstable();
        let mut part = vec![];
        for keyed in keyed.chunk_by(|a, b| a >> 32 == b >> 32) {
            part.clear();
            part.extend(keyed.iter().map(|k| *k as u32));
            let own = self.fate(&part);
            fate += own;
            if own.released > 0 {
                smallest = smallest.min(own.released);
            }
        }
        (fate, smallest)
    }

    /// Sorts the combinations of a range by their values in `columns`, and returns each run of
    /// combinations with equal values as a class.
    fn split(&mut self, range: Range<usize>, columns: Range<usize>) -> Vec<Class> {
        let mut combinations = std::mem::take(&mut self.combinations);
        let cuts = &*self;
        let values = |c: u32| columns.clone().map(move |column| cuts.value_of(column, c));
        let members = &mut combinations[range.clone()];
        members.sort_unstable_by(|a, b| values(*a).cmp(values(*b)).then(a.cmp(b)));
        let mut start = range.start;
        let parts = members.chunk_by(|a, b| values(*a).eq(values(*b))).map(|part| {
            let combinations = start..start + part.len();
            start = combinations.end;
            Class {
                now: self.fate(part),
                combinations,
                after: vec![],
            }
        });
        let parts = parts.collect();
        self.combinations = combinations;
        parts
    }

    fn add_class(&mut self, mut class: Class) {
        for column in 0..self.table.columns().len() {
            let (after, smallest) = self.after(&class, column);
            let value = self.value(&class, column);
            if let Some(refined) = &mut self.values[value].refined {
                refined.now += class.now;
                refined.after += after;
                refined.smallest.add(smallest);
            }
            class.after.push((after, smallest));
        }
        if class.now.released > 0 {
            self.released += class.now.released;
            self.sizes.add(class.now.released);
        }
        self.classes.push(class);
    }

    fn remove_class(&mut self, class: &Class) {
        for (column, (after, smallest)) in class.after.iter().enumerate() {
            let value = self.value(class, column);
            if let Some(refined) = &mut self.values[value].refined {
                refined.now -= class.now;
                refined.after -= *after;
                refined.smallest.remove(*smallest);
            }
        }
        if class.now.released > 0 {
            self.released -= class.now.released;
            self.sizes.remove(class.now.released);
        }
    }

    /// Returns the index of the value to refine next; `None` if no value can be refined.
    pub(super) fn best(&self) -> Option<usize> {
        let smallest = self.sizes.smallest().unwrap_or(0);
        let candidates = self.open.iter().filter_map(|number| {
            let Value {
                column, code, refined, ..
            } = &self.values[*number];
            let refined = refined.as_ref()?;
            let suppressed = self.rows - (self.released - refined.now.released + refined.after.released);
            if suppressed > self.table.suppressible() || refined.after.errors > refined.now.errors {
                return None;
            }
            let gain = match self.gain_of_values {
                true => refined.gain_of_value,
                false => (refined.now.bits as f64 - refined.after.bits as f64) / UNITS / self.rows as f64,
            };
            let loss = smallest.saturating_sub(refined.smallest.smallest().unwrap_or(u64::MAX));
            let score = gain / (loss as f64 + 1.0);
            Some((score, gain, loss, suppressed, *column, *code, *number))
        });
        let best = candidates.max_by(|a, b| {
            let gains = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
            gains.then_with(|| (b.2, b.3, b.4, b.5).cmp(&(a.2, a.3, a.4, a.5)))
        });
        best.map(|(.., number)| number)
    }

    /// Replaces a value by its children, and divides the classes with the value.
    pub(super) fn refine(&mut self, number: usize) {
        let (column, level) = (self.values[number].column, self.values[number].level);
        let classes = std::mem::take(&mut self.classes);
        let has = |class: &Class| self.value(class, column) == number;
        let (with, without): (Vec<Class>, Vec<Class>) = classes.into_iter().partition(has);
        self.classes = without;
        with.iter().for_each(|class| self.remove_class(class));
        self.values[number].refined = None;
        self.open.retain(|open| *open != number);
        let under = |code: &u32| self.value_of[column][*code as usize] as usize == number;
        let codes = self.codes[column].iter().copied().filter(under).collect();
        self.add_values(column, codes, level - 1);
        for class in with {
            for part in self.split(class.combinations, column..column + 1) {
                self.add_class(part);
            }
        }
    }

    /// Returns the classes as a partition, labelled with their values.
    pub(super) fn partition(self) -> Result<Partition> {
        let columns = self.table.columns();
        let mut groups = vec![0; self.combinations.len()];
        let mut cells = vec![vec![]; columns.len()];
        for (number, class) in self.classes.iter().enumerate() {
            for combination in &self.combinations[class.combinations.clone()] {
                groups[*combination as usize] = number as u32;
            }
            for (column, cells) in cells.iter_mut().enumerate() {
                let Value { level, code, .. } = self.values[self.value(class, column)];
                cells.push(Label::at(&columns[column].lookup, level, code));
            }
        }
        Partition::new(columns.iter().map(|c| c.lookup.as_ref()), groups, cells)
    }
}
