//! A hierarchy bound to the values of one column.

use super::{Hierarchy, OnNull, OnUnmapped, TOP};
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use std::collections::HashMap;
use std::sync::Arc;

/// One level of a lookup: labels, and for each ground code its label, its group's representative and its weight.
#[derive(Debug, Clone)]
pub struct Level {
    /// The labels, ascending, NULL last. At level 0 these are the ground values, of the column's own type.
    pub labels: ArrayRef,
    /// Ground code to index in `labels`.
    pub codes: Vec<u32>,
    /// Ground code to the least ground code with the same label. A key of representatives is itself a key of ground
    /// codes, so one table per level serves roll-ups from any more specific level.
    pub representatives: Vec<u32>,
    /// Leaves of the hierarchy under each label (glm, infoloss): of the listed ground values, or of the column's
    /// distinct values when the hierarchy is a rule.
    pub leaves: Vec<u64>,
    /// Least and greatest ground value under each label, when the column is numeric.
    pub extents: Option<Vec<(f64, f64)>>,
}

/// The lookup table of one column: level 0 is the value itself, the last level has the single value `*`.
#[derive(Debug, Clone)]
pub struct Lookup {
    levels: Vec<Level>,
    unmapped: Vec<bool>,
    total_leaves: u64,
}

impl Lookup {
    pub(super) fn try_new(hierarchy: &Hierarchy, values: ArrayRef) -> Result<Self> {
        let domain = Domain::of(hierarchy, &values)?;
        let own = with_top(hierarchy, hierarchy.ladder().labels(&values)?, values.len());
        let unmapped: Vec<bool> = (0..values.len())
            .map(|i| !values.is_null(i) && own.first().is_some_and(|l| l.is_null(i)))
            .collect();

        let mut levels = vec![ground_level(&values, &domain)];
        for (number, labels) in own.iter().enumerate() {
            let is_top = number + 1 == own.len();
            let labels = fill_gaps(hierarchy, &values, &unmapped, labels, is_top);
            levels.push(domain.level(number, labels)?);
        }
        check_nesting(&levels)?;
        Ok(Self {
            levels,
            unmapped,
            total_leaves: domain.leaves,
        })
    }

    /// The highest level.
    pub fn top(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    /// Level `level`, from 0.
    pub fn level(&self, level: u8) -> &Level {
        &self.levels[usize::from(level)]
    }

    /// Every level, from 0.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The distinct ground values, ascending, NULL last; a ground code is an index into it.
    pub fn values(&self) -> &ArrayRef {
        &self.levels[0].labels
    }

    /// Leaves of the whole hierarchy.
    pub fn total_leaves(&self) -> u64 {
        self.total_leaves
    }

    /// Whether the hierarchy knows the value of this ground code.
    pub fn is_unmapped(&self, code: usize) -> bool {
        self.unmapped[code]
    }

    /// How many values the hierarchy does not know.
    pub fn unmapped_values(&self) -> usize {
        self.unmapped.iter().filter(|u| **u).count()
    }
}

/// The leaves that losses are counted over: the listed ground values, or the column's values for a rule.
struct Domain {
    labels: Vec<StringArray>,
    numbers: Option<Vec<Option<f64>>>,
    leaves: u64,
    has_null: bool,
}

impl Domain {
    fn of(hierarchy: &Hierarchy, values: &ArrayRef) -> Result<Self> {
        let has_null = values.null_count() > 0;
        let ground = match hierarchy.ladder().ground(values.data_type())? {
            Some(ground) => ground,
            None => Arc::clone(values),
        };
        let labels = with_top(hierarchy, hierarchy.ladder().labels(&ground)?, ground.len());
        let mapped = (0..ground.len())
            .filter(|&i| !ground.is_null(i) && labels.first().is_none_or(|l| !l.is_null(i)))
            .count();
        let numbers = numbers(&ground)?;
        Ok(Self {
            labels,
            numbers,
            leaves: mapped as u64 + u64::from(has_null),
            has_null,
        })
    }

    /// The level above the ground with index `number`, for a column whose values have these labels.
    fn level(&self, number: usize, own: StringArray) -> Result<Level> {
        let mut distinct: Vec<Option<&str>> = own.iter().collect();
        distinct.sort_by(|a, b| (a.is_none(), a).cmp(&(b.is_none(), b)));
        distinct.dedup();
        let index: HashMap<Option<&str>, u32> = distinct.iter().zip(0..).map(|(label, i)| (*label, i)).collect();
        let codes: Vec<u32> = own.iter().map(|label| index[&label]).collect();

        let mut leaves = vec![0; distinct.len()];
        let mut extents = self
            .numbers
            .as_ref()
            .map(|_| vec![(f64::INFINITY, f64::NEG_INFINITY); distinct.len()]);
        for (i, label) in self.labels[number].iter().enumerate() {
            let Some(&code) = label.and_then(|l| index.get(&Some(l))) else {
                continue;
            };
            leaves[code as usize] += 1;
            if let (Some(extents), Some(x)) = (&mut extents, self.numbers.as_ref().and_then(|n| n[i])) {
                let (low, high) = &mut extents[code as usize];
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        if self.has_null {
            // NULL is a leaf like any other: under its own label below the top, under the top's at the top.
            let under = distinct
                .iter()
                .position(Option::is_none)
                .or_else(|| index.get(&Some(TOP)).map(|c| *c as usize));
            if let Some(code) = under {
                leaves[code] += 1;
            }
        }
        let labels: ArrayRef = Arc::new(StringArray::from(distinct));
        Ok(Level {
            representatives: representatives(&codes),
            labels,
            codes,
            leaves,
            extents,
        })
    }
}

fn ground_level(values: &ArrayRef, domain: &Domain) -> Level {
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    let extents = domain.numbers.as_ref().and_then(|_| {
        let own = numbers(values).ok().flatten()?;
        Some(
            own.iter()
                .map(|x| x.map_or((f64::INFINITY, f64::NEG_INFINITY), |x| (x, x)))
                .collect(),
        )
    });
    Level {
        labels: Arc::clone(values),
        representatives: codes.clone(),
        leaves: vec![1; values.len()],
        codes,
        extents,
    }
}

/// For each code the first position with the same code.
fn representatives(codes: &[u32]) -> Vec<u32> {
    let mut first: HashMap<u32, u32> = HashMap::new();
    codes
        .iter()
        .zip(0..)
        .map(|(code, i)| *first.entry(*code).or_insert(i))
        .collect()
}

/// The labels with a single-valued top level, added where the ladder does not end in one.
fn with_top(hierarchy: &Hierarchy, mut labels: Vec<StringArray>, rows: usize) -> Vec<StringArray> {
    if !hierarchy.ladder().ends_in_top() {
        let top: StringArray = match labels.last() {
            Some(last) => last.iter().map(|l| l.map(|_| TOP)).collect(),
            None => (0..rows).map(|_| Some(TOP)).collect(),
        };
        labels.push(top);
    }
    labels
}

/// The labels of a column's values, with what the statement says of NULL and of unknown values.
fn fill_gaps(
    hierarchy: &Hierarchy,
    values: &ArrayRef,
    unmapped: &[bool],
    labels: &StringArray,
    is_top: bool,
) -> StringArray {
    let top = labels.iter().flatten().next().filter(|_| is_top).unwrap_or(TOP);
    (0..values.len())
        .map(|i| {
            if values.is_null(i) {
                (is_top || hierarchy.on_null() == OnNull::Top).then_some(top)
            } else if unmapped[i] {
                // Suppressed rows never reach a release; their label only has to be one that is there at the top.
                let shown = is_top || hierarchy.on_unmapped() != OnUnmapped::Error;
                shown.then_some(top)
            } else {
                Some(labels.value(i))
            }
        })
        .collect()
}

fn check_nesting(levels: &[Level]) -> Result<()> {
    for (number, pair) in levels.windows(2).enumerate().skip(1) {
        let mut parent: HashMap<u32, u32> = HashMap::new();
        for (below, above) in pair[0].codes.iter().zip(&pair[1].codes) {
            if *parent.entry(*below).or_insert(*above) != *above {
                return Err(does_not_nest(number));
            }
        }
    }
    match levels.last() {
        Some(top) if top.labels.len() > 1 => Err(Error::usage(format!(
            "level {}, the top, has more than one value",
            levels.len() - 1
        ))),
        _ => Ok(()),
    }
}

/// The error for a group of level `level` that lies in more than one group of the next.
pub(super) fn does_not_nest(level: usize) -> Error {
    Error::usage(format!(
        "groups do not nest: a group of level {level} lies in more than one group of level {}; every label of a level \
         must have exactly one label on the next",
        level + 1
    ))
}

/// The values as floating-point numbers, when the type is numeric.
fn numbers(values: &ArrayRef) -> Result<Option<Vec<Option<f64>>>> {
    let data_type = values.data_type();
    if !(data_type.is_numeric() || matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))) {
        return Ok(None);
    }
    let integers = if data_type.is_numeric() {
        Arc::clone(values)
    } else {
        cast(values, &DataType::Int64)?
    };
    let floats = cast(&integers, &DataType::Float64)?;
    Ok(Some(floats.as_primitive::<Float64Type>().iter().collect()))
}
