//! A hierarchy bound to the values of one column. A ground code is the index of a distinct value of
//! the column.

use super::codes::{Codes, Side};
use super::exceptions::{OnNull, OnUnmapped};
use super::grid::Grid;
use super::ground::{self, finite, numbers};
use super::named::Hierarchy;
use super::nesting::does_not_nest;
use super::rule::TOP;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, StringArray};
use std::collections::{HashMap, HashSet};
use std::iter::repeat_n;
use std::sync::{Arc, OnceLock};

/// One level of a lookup table: the labels, and for each ground code the index of the label and the
/// representative of the group.
#[derive(Debug, Clone)]
pub struct Level {
    /// The labels, ascending with NULL last. At level 0, the labels are the ground values, with the
    /// type of the column. If the hierarchy has codes, the labels at level 0 are text, and the
    /// values that a code hides share a label.
    pub labels: ArrayRef,
    /// For each ground code, the index of the label in `labels`.
    pub codes: Vec<u32>,
    /// For each ground code, the lowest ground code with the same label. Since representatives are
    /// themselves ground codes, one array per level suffices to roll up keys from any more specific
    /// level.
    pub representatives: Vec<u32>,
    /// For each label, the number of leaves of the hierarchy under it (used by glm and infoloss).
    /// Leaves are the listed ground values, or, if the hierarchy computes its labels, the distinct
    /// values of the column. If the column contains NULL, NULL is one more leaf. If NULL or an
    /// unmapped value has the top's label at a level below the top, all leaves count as being under
    /// that label.
    pub leaves: Vec<u64>,
    /// For each label, the minimum and the maximum ground value under it, if the column contains
    /// numbers, dates or timestamps. If there is no such value under the label, as for NULL, they
    /// are infinity and minus infinity.
    pub extents: Option<Vec<(f64, f64)>>,
}

/// The lookup table of one column. At level 0, the label is the value itself, or the label of the
/// code that hides the value. The last level has a single label, such as `*`.
#[derive(Debug, Clone)]
pub struct Lookup {
    pub(super) values: ArrayRef,
    pub(super) levels: Vec<Level>,
    /// For each ground code, the value as a number, given as both the minimum and the maximum;
    /// `None` unless the column contains numbers, dates or timestamps.
    pub(super) extents: Option<Vec<(f64, f64)>>,
    pub(super) unmapped: Vec<bool>,
    /// The codes of the hierarchy.
    pub(super) codes: Option<Codes>,
    /// For each ground code, the code that hides the value; `None` if the hierarchy has no codes.
    pub(super) hidden: Option<Vec<Option<Side>>>,
    pub(super) total_leaves: u64,
    /// The leaves as numbers in ascending order; `None` unless the hierarchy lists its values and
    /// the column contains numbers, dates or timestamps.
    pub(super) listed: Option<Vec<f64>>,
    /// The cells to which the ends of ranges are rounded. They are computed when they are first
    /// needed.
    pub(super) grid: OnceLock<Option<Grid>>,
}

impl Hierarchy {
    /// Returns the lookup table for the distinct `values` of a column, which are in ascending order
    /// with NULL last.
    ///
    /// Fails if the hierarchy does not accept the type, if a value is NaN or infinite, or if groups
    /// do not nest. Unmapped values do not cause an error here, but are marked in the lookup;
    /// [`Hierarchy::admit`] later checks them.
    pub fn bind(&self, values: ArrayRef) -> Result<Lookup> {
        let bound = || {
            self.rule().accepts(values.data_type())?;
            let finite = finite(&values)?;
            match (0..values.len()).filter(|i| !finite(*i)).count() {
                0 => Lookup::try_new(self, Arc::clone(&values)),
                n => Err(Error::data(format!(
                    "{n} values are NaN or infinite, which cannot be generalized"
                ))),
            }
        };
        bound().map_err(|e| e.context(format!("hierarchy {}", self.name())))
    }
}

impl Lookup {
    pub(super) fn try_new(hierarchy: &Hierarchy, values: ArrayRef) -> Result<Self> {
        let rule = hierarchy.rule();
        let flat = ground::plain(&values)?;
        let own = with_top(hierarchy, rule.labels(&flat)?, flat.len());
        let null = (0..flat.len()).find(|&i| flat.is_null(i));
        let (domain, is_listed) = match rule.ground(flat.data_type())? {
            Some(listed) => {
                let labels = with_top(hierarchy, rule.labels(&listed)?, listed.len());
                (Domain::new(&listed, labels, null.is_some())?, true)
            }
            None => (Domain::new(&flat, own.clone(), null.is_some())?, false),
        };
        let unmapped: Vec<bool> = (0..flat.len())
            .map(|i| !flat.is_null(i) && own.first().is_some_and(|l| l.is_null(i)))
            .collect();

        let extents: Option<Vec<(f64, f64)>> =
            numbers(&flat)?.map(|n| n.into_iter().map(|x| x.map_or(EMPTY, |x| (x, x))).collect());
        let hidden = rule.codes().map(|_| rule.hidden(&flat)).transpose()?;
        let mut levels = vec![match (&hidden, own.first()) {
            (Some(hidden), Some(first)) => coded_level(&flat, hidden, first, extents.as_deref())?,
            _ => ground_level(&values, extents.clone()),
        }];
        for (number, labels) in own.iter().enumerate() {
            let gaps = Gaps::of(hierarchy, number + 1 == own.len());
            let raised = |i: usize| {
                if flat.is_null(i) {
                    gaps.null
                } else {
                    unmapped[i] && gaps.unmapped
                }
            };
            let label = |i: usize| match raised(i) {
                true => Some(domain.top.as_str()),
                false => (!flat.is_null(i) && !unmapped[i]).then(|| labels.value(i)),
            };
            let own: Vec<Option<&str>> = (0..flat.len()).map(label).collect();
            let raised = (0..flat.len()).find(|&i| raised(i));
            levels.push(domain.level(number, &own, null, raised));
        }
        check_nesting(&levels)?;
        Ok(Self {
            values,
            levels,
            extents,
            unmapped,
            codes: rule.codes(),
            hidden,
            total_leaves: domain.leaves,
            listed: is_listed.then(|| domain.ascending()).flatten(),
            grid: OnceLock::new(),
        })
    }

    /// Returns the highest level.
    pub fn top(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    /// Returns level `level`.
    pub fn level(&self, level: u8) -> &Level {
        &self.levels[usize::from(level)]
    }

    /// Returns every level, starting at level 0.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the distinct ground values, ascending with NULL last. A ground code is an index of
    /// these values.
    pub fn values(&self) -> &ArrayRef {
        &self.values
    }

    /// Returns, for each ground code, the value as a number, given as both the minimum and the
    /// maximum. For NULL, they are infinity and minus infinity. Returns `None` unless the column
    /// contains numbers, dates or timestamps.
    pub fn extents(&self) -> Option<&[(f64, f64)]> {
        self.extents.as_deref()
    }

    /// Returns true if the hierarchy has codes, so that labels at level 0 can differ from the
    /// values.
    pub fn has_codes(&self) -> bool {
        self.hidden.is_some()
    }

    /// Returns, for each ground code, true if another value has the same label at level 0. This is
    /// the case for values that the same code hides.
    pub fn merged(&self) -> Vec<bool> {
        let Level { labels, codes, .. } = self.level(0);
        let mut values = vec![0u32; labels.len()];
        codes.iter().for_each(|label| values[*label as usize] += 1);
        codes.iter().map(|label| values[*label as usize] > 1).collect()
    }

    /// Returns the code that hides the value with ground code `code`; `None` if no code hides it.
    pub(super) fn hidden(&self, code: u32) -> Option<Side> {
        self.hidden.as_ref()?[code as usize]
    }

    /// Returns two flags for the range from ground code `low` to ground code `high`. The first is
    /// true if the range is open below, because BOTTOM CODE hides its first value. The second is
    /// true if it is open above, because TOP CODE hides its last value.
    pub(super) fn is_open(&self, low: u32, high: u32) -> (bool, bool) {
        (
            self.hidden(low) == Some(Side::Below),
            self.hidden(high) == Some(Side::Above),
        )
    }

    /// Returns the range of ground codes from `low` to `high` in a column with an order. If a code
    /// hides the value at an end, the range is extended to all values that the same code hides.
    pub(super) fn unhidden(&self, low: u32, high: u32) -> (u32, u32) {
        let (is_open, last) = (self.is_open(low, high), self.values.len() - self.values.null_count());
        (
            if is_open.0 { 0 } else { low },
            if is_open.1 { last.saturating_sub(1) as u32 } else { high },
        )
    }

    /// Returns the number of leaves of the whole hierarchy.
    pub fn total_leaves(&self) -> u64 {
        self.total_leaves
    }

    /// Returns, for each ground code, the loss of the label at `level`, from 0 to 1: the number of
    /// leaves under the label minus 1, divided by the number of all leaves minus 1 (glm).
    pub fn losses(&self, level: u8) -> Vec<f64> {
        let (level, spans) = (self.level(level), self.total_leaves().saturating_sub(1).max(1) as f64);
        let loss = |label: &u32| level.leaves[*label as usize].saturating_sub(1) as f64 / spans;
        level.codes.iter().map(loss).collect()
    }

    /// Returns the number of leaves from ground code `low` to ground code `high`, both inclusive,
    /// in a column with an order. Leaves are the listed values if the hierarchy lists values, and
    /// otherwise the values of the column. NULL is not counted.
    pub(super) fn leaves_between(&self, low: u32, high: u32) -> u64 {
        let ground = self.extents().unwrap_or_default();
        match (&self.listed, ground.get(low as usize), ground.get(high as usize)) {
            (Some(listed), Some((least, _)), Some((_, greatest))) => {
                let below = |x: f64, with: bool| listed.partition_point(|l| *l < x || (with && *l == x)) as u64;
                below(*greatest, true).saturating_sub(below(*least, false))
            }
            _ => (low..=high).filter(|c| !self.unmapped[*c as usize]).count() as u64,
        }
    }

    /// Returns the number of leaves from `low` to `high`, and the minimum and the maximum of these
    /// leaves, in a column with an order. `codes` contains the first and the last ground code of
    /// the column's values in this range.
    pub(super) fn leaves_within(&self, (low, high): (f64, f64), codes: (u32, u32)) -> (u64, Option<(f64, f64)>) {
        if let Some(listed) = &self.listed {
            let from = listed.partition_point(|l| *l < low);
            let to = listed.partition_point(|l| *l <= high);
            let extent = listed.get(from).zip(to.checked_sub(1).and_then(|to| listed.get(to)));
            return (to.saturating_sub(from) as u64, extent.map(|(low, high)| (*low, *high)));
        }
        let ground = self.extents().unwrap_or_default();
        let ends = ground.get(codes.0 as usize).zip(ground.get(codes.1 as usize));
        (
            self.leaves_between(codes.0, codes.1),
            ends.map(|(low, high)| (low.0, high.1)),
        )
    }

    /// Returns true if the column contains numbers, dates or timestamps. In such a column, ground
    /// codes are in the order of the values.
    pub fn is_ordered(&self) -> bool {
        self.extents.is_some()
    }

    /// Returns true if the hierarchy does not map the value with ground code `code`.
    pub fn is_unmapped(&self, code: usize) -> bool {
        self.unmapped[code]
    }

    /// Returns the number of values that the hierarchy does not map.
    pub fn unmapped_values(&self) -> usize {
        self.unmapped.iter().filter(|u| **u).count()
    }
}

/// Flags for one level: `null` is true if NULL has the top's label, and `unmapped` is true if
/// unmapped values have it.
struct Gaps {
    null: bool,
    unmapped: bool,
}

impl Gaps {
    fn of(hierarchy: &Hierarchy, is_top: bool) -> Self {
        Self {
            null: is_top || hierarchy.on_null() == OnNull::Top,
            // Suppressed rows are never released, so it does not matter which label their values
            // have. They have the label of the top.
            unmapped: is_top || hierarchy.on_unmapped() != OnUnmapped::Error,
        }
    }
}

/// The leaves that determine losses: the listed ground values, or the values of the column if the
/// hierarchy does not list values, and additionally NULL if the column contains NULL.
struct Domain {
    labels: Vec<StringArray>,
    numbers: Option<Vec<Option<f64>>>,
    mapped: Vec<bool>,
    leaves: u64,
    top: String,
}

/// The extent of a label that covers no values.
const EMPTY: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl Domain {
    fn new(ground: &ArrayRef, labels: Vec<StringArray>, has_null: bool) -> Result<Self> {
        let mapped: Vec<bool> = (0..ground.len())
            .map(|i| !ground.is_null(i) && labels.first().is_none_or(|l| !l.is_null(i)))
            .collect();
        let top = labels.last().and_then(|l| l.iter().flatten().next()).unwrap_or(TOP);
        Ok(Self {
            numbers: numbers(ground)?,
            leaves: mapped.iter().filter(|m| **m).count() as u64 + u64::from(has_null),
            mapped,
            top: top.to_string(),
            labels,
        })
    }

    /// Returns the leaves as numbers in ascending order; `None` if they are not numbers.
    fn ascending(&self) -> Option<Vec<f64>> {
        let mapped = self.numbers.as_ref()?.iter().zip(&self.mapped);
        let mut numbers: Vec<f64> = mapped.filter_map(|(n, m)| n.filter(|_| *m)).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        Some(numbers)
    }

    /// Returns level `number` + 1. `own` contains the label of each ground code at this level.
    /// `null` is the ground code of NULL, if the column contains NULL. `raised` is the first ground
    /// code that has the top's label because its value is NULL or unmapped.
    fn level(&self, number: usize, own: &[Option<&str>], null: Option<usize>, raised: Option<usize>) -> Level {
        let (labels, codes) = encode(own);
        let index: HashMap<&str, usize> = labels.iter().zip(0..).filter_map(|(l, i)| Some(((*l)?, i))).collect();
        let mut leaves = vec![0; labels.len()];
        let mut extents = self.numbers.as_ref().map(|_| vec![EMPTY; labels.len()]);
        let mut whole = EMPTY;
        // The code of the last label. Equal labels are often adjacent.
        let mut last: (Option<&str>, Option<usize>) = (None, None);
        for (i, label) in self.labels[number].iter().enumerate().filter(|(i, _)| self.mapped[*i]) {
            let number = self.numbers.as_ref().and_then(|n| n[i]);
            widen(&mut whole, number);
            if label != last.0 {
                last = (label, label.and_then(|l| index.get(l).copied()));
            }
            let Some(code) = last.1 else {
                continue;
            };
            leaves[code] += 1;
            if let Some(extents) = &mut extents {
                widen(&mut extents[code], number);
            }
        }
        if let Some(i) = null {
            leaves[codes[i] as usize] += 1;
        }
        if let Some(i) = raised {
            // The top's label reveals, even at a lower level, only that the value is one of the
            // leaves.
            let code = codes[i] as usize;
            leaves[code] = self.leaves;
            if let Some(extents) = &mut extents {
                extents[code] = whole;
            }
        }
        Level {
            representatives: representatives(&codes),
            labels: Arc::new(StringArray::from(labels)),
            codes,
            leaves,
            extents,
        }
    }
}

fn widen((low, high): &mut (f64, f64), number: Option<f64>) {
    if let Some(x) = number {
        (*low, *high) = (low.min(x), high.max(x));
    }
}

/// Returns the distinct labels, ascending with NULL last, and the index of the label for each
/// element of `own`.
fn encode<'a>(own: &[Option<&'a str>]) -> (Vec<Option<&'a str>>, Vec<u32>) {
    // The values are in ascending order, so equal labels are often adjacent.
    let runs = || own.chunk_by(|one, other| one == other);
    let distinct: HashSet<Option<&str>> = runs().map(|run| run[0]).collect();
    let mut labels: Vec<Option<&str>> = distinct.into_iter().collect();
    labels.sort_unstable_by_key(|label| (label.is_none(), *label));
    let index: HashMap<Option<&str>, u32> = labels.iter().copied().zip(0..).collect();
    let codes = runs().flat_map(|run| repeat_n(index[&run[0]], run.len()));
    let codes = codes.collect();
    (labels, codes)
}

fn ground_level(values: &ArrayRef, extents: Option<Vec<(f64, f64)>>) -> Level {
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    Level {
        labels: Arc::clone(values),
        representatives: codes.clone(),
        leaves: vec![1; values.len()],
        codes,
        extents,
    }
}

/// Returns level 0 of a hierarchy with codes. A value that a code hides has the same label as at
/// level 1. Any other value is its own label.
fn coded_level(
    flat: &ArrayRef,
    hidden: &[Option<Side>],
    first: &StringArray,
    numbers: Option<&[(f64, f64)]>,
) -> Result<Level> {
    let texts = ground::text(flat)?;
    let own = (0..flat.len()).map(|i| match hidden[i] {
        Some(_) => first.is_valid(i).then(|| first.value(i)),
        None => texts.is_valid(i).then(|| texts.value(i)),
    });
    let (labels, codes) = encode(&own.collect::<Vec<_>>());
    let mut leaves = vec![0; labels.len()];
    let mut extents = numbers.map(|_| vec![EMPTY; labels.len()]);
    for (i, code) in codes.iter().enumerate() {
        leaves[*code as usize] += 1;
        if let (Some(extents), Some(numbers)) = (&mut extents, numbers) {
            let (low, high) = &mut extents[*code as usize];
            (*low, *high) = (low.min(numbers[i].0), high.max(numbers[i].1));
        }
    }
    Ok(Level {
        representatives: representatives(&codes),
        labels: Arc::new(StringArray::from(labels)),
        codes,
        leaves,
        extents,
    })
}

/// Returns, for each element of `codes`, the first index with the same code. The codes are indices
/// of labels.
fn representatives(codes: &[u32]) -> Vec<u32> {
    let labels = codes.iter().max().map_or(0, |most| *most as usize + 1);
    let mut first: Vec<Option<u32>> = vec![None; labels];
    codes
        .iter()
        .zip(0..)
        .map(|(code, i)| *first[*code as usize].get_or_insert(i))
        .collect()
}

/// Returns the labels of the rule, with a top level that has a single label. The top level is added
/// if the rule does not end in such a level.
fn with_top(hierarchy: &Hierarchy, mut labels: Vec<StringArray>, rows: usize) -> Vec<StringArray> {
    if !hierarchy.rule().ends_in_top() {
        let top: StringArray = match labels.last() {
            Some(last) => last.iter().map(|l| l.map(|_| TOP)).collect(),
            None => (0..rows).map(|_| Some(TOP)).collect(),
        };
        labels.push(top);
    }
    labels
}

fn check_nesting(levels: &[Level]) -> Result<()> {
    for (pair, level) in levels.windows(2).zip(0..) {
        // Values with the same label at a level have the same representative there.
        let above = &pair[1].codes;
        let mut groups = pair[0].representatives.iter().zip(above);
        if groups.any(|(first, code)| above[*first as usize] != *code) {
            return Err(does_not_nest(level, None));
        }
    }
    match levels.last() {
        Some(top) if top.labels.len() > 1 => Err(Error::internal(format!(
            "level {} is the top and has more than one value",
            levels.len() - 1
        ))),
        _ => Ok(()),
    }
}
