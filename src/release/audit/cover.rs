//! Checks that the labels in every released row are true of a row of the source.
//!
//! If a column has one level, each value has one label at this level, and counting suffices
//! ([`super::against`]). A local recoding may release labels at many levels, and ranges, and these
//! labels may overlap. Each released row is then matched with a row of the source that has the same
//! values in the unchanged columns and whose values the released labels cover. No row of the source
//! is used twice. Equal rows are matched together, as a flow from the distinct released rows to the
//! distinct rows of the source.

use super::against::Unchanged;
use super::check::none_of;
use super::flow::matched;
use super::forms::SingleValues;
use super::known::{Known, generalized};
use super::spelling::{CSV_TEXT, TEXT, converted};
use super::tables::WHOLE;
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::method::hierarchy::{Cover, Hierarchy, LabelForm, Proven, TOP, texts as written};
use crate::release::recount::{ReleasedTable, bind, type_of, with_one_zero};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The maximum number of pairs of a released row and a source row over which a flow is computed. If
/// there are more pairs, each released row is checked on its own.
const PAIRS: usize = 1 << 21;

/// A column whose labels are compared with the values of the source.
struct Covered {
    proof: Proof,
    /// The index of each released label, by its text.
    labels: HashMap<Option<String>, u32>,
    /// The code of each value of the source, by its text.
    codes: HashMap<Option<String>, u32>,
    /// The index of the label NULL, if NULL stands for every value.
    any: Option<u32>,
    /// The indices of the labels NULL and empty text, if the files write both in the same way.
    alike: Option<[u32; 2]>,
}

/// The proof that a released label covers a value.
enum Proof {
    Labels(Proven),
    Points(SingleValues),
}

/// Counts the released rows that cannot be matched. Also describes each column whose labels cannot
/// be interpreted.
pub(super) async fn check(
    session: &SessionContext,
    released: &ReleasedTable,
    known: &[Known],
    unchanged: &[Unchanged],
) -> Result<(Option<Check>, Vec<String>)> {
    let whole = session.table(WHOLE).await?.schema().clone();
    let (mut unread, mut covered, mut followed) = (vec![], vec![], vec![]);
    let (mut of_release, mut of_source, mut names) = (Side::default(), Side::default(), vec![]);
    for known in known {
        let Ok((_, field)) = whole.qualified_field_with_unqualified_name(&known.column) else {
            continue;
        };
        let data_type = known.form(session, &released.name, field.data_type()).await?;
        if let Some(data_type) = data_type {
            of_release.keys.push(converted(&quote(&known.column), data_type));
            of_source.keys.push(converted(&quote(&known.column), data_type));
            names.push(known.column.as_str());
            followed.push(known);
            continue;
        }
        match Covered::of(session, released, known).await? {
            Some(column) => {
                covered.push(column);
                of_release.cells.push(converted(&quote(&known.column), TEXT));
                let raw_type = type_of(session, WHOLE, &known.column).await?;
                of_source
                    .cells
                    .push(converted(&with_one_zero(&quote(&known.column), &raw_type), TEXT));
                names.push(&known.column);
            }
            None => unread.push(not_read(known)),
        }
    }
    if covered.is_empty() {
        return Ok((None, unread));
    }
    for one in unchanged {
        of_release.keys.push(one.released.clone());
        of_source.keys.push(one.of_source.clone());
        names.push(&one.column);
    }
    let source = generalized(session, WHOLE, &followed).await?;
    let sql = counted_together((released, &of_release), (&source, &of_source));
    let Missing { rows, alike, is_whole } = unmatched(session, &sql, of_release.keys.len(), &mut covered).await?;
    let missing = rows + alike.saturating_sub(released.starred);
    let each = match is_whole {
        true => "",
        false => ", each label for itself (too many overlap to match all at once)",
    };
    let check = none_of(
        format!(
            "rows that are true of no row of the source of their own ({}){each}",
            names.join(", ")
        ),
        missing,
    );
    Ok((Some(check), unread))
}

/// Describes what is not checked for a column whose labels cannot be interpreted.
fn not_read(known: &Known) -> String {
    let why = match known.form {
        LabelForm::Text => format!("name the hierarchy: {} USING hierarchy", known.column),
        form => format!("LABELS {form} of a label that is not known"),
    };
    format!("whether values of {} are true of the source ({why})", known.column)
}

/// The SQL expressions of one table by which rows of two tables are counted together.
#[derive(Default)]
struct Side {
    /// Expressions whose values must be equal in both tables.
    keys: Vec<String>,
    /// Labels in the release, and values in the source.
    cells: Vec<String>,
}

/// Returns the query that counts the rows of the release and of the source together. The rows are
/// grouped by the keys that both have, and by the cells, which are labels in the release and values
/// in the source.
fn counted_together((released, of_release): (&ReleasedTable, &Side), (source, of_source): (&str, &Side)) -> String {
    let select = |of: &Side, side: &str, from: &str| {
        let keys = of.keys.iter().enumerate().map(|(i, c)| format!("{c} AS k{i}"));
        let cells = of.cells.iter().enumerate().map(|(i, c)| format!("{c} AS c{i}"));
        let columns: Vec<String> = keys.chain(cells).collect();
        format!("SELECT {}, {side} FROM {from}", columns.join(", "))
    };
    let keys: Vec<String> = (0..of_release.keys.len()).map(|i| format!("k{i}")).collect();
    let cells: Vec<String> = (0..of_release.cells.len()).map(|i| format!("c{i}")).collect();
    let all = [keys.clone(), cells, vec!["side".into(), "looks".into()]]
        .concat()
        .join(", ");
    let order = [keys, vec!["side".into()]].concat().join(", ");
    // Suppressed rows cannot be distinguished from other rows with the same labels, because the
    // manifest gives only the number of suppressed rows.
    let looks = format!(
        "0 AS side, CASE WHEN {} THEN 1 ELSE 0 END AS looks",
        released.is_starred_row()
    );
    format!(
        "SELECT {all}, count(*) AS n FROM ({} UNION ALL {}) GROUP BY {all} ORDER BY {order}",
        select(of_release, &looks, &quote(&released.name)),
        select(of_source, "1 AS side, 0 AS looks", source),
    )
}

impl Covered {
    /// Prepares a column for comparison. Returns `None` if the labels of the column cannot be
    /// interpreted without a hierarchy.
    async fn of(session: &SessionContext, released: &ReleasedTable, known: &Known) -> Result<Option<Self>> {
        let hierarchy = match &known.hierarchy {
            Some(hierarchy) => Arc::clone(hierarchy),
            None => Hierarchy::suppression_of(&known.column)?,
        };
        let (values, lookup) = bind(session, WHOLE, &known.column, &hierarchy).await?;
        let sql = format!(
            "SELECT DISTINCT {} AS v FROM {}",
            converted(&quote(&known.column), TEXT),
            quote(&released.name)
        );
        let batches = session.sql(&sql).await?.collect().await.map_err(Error::from_data)?;
        let columns: Vec<&dyn Array> = batches.iter().map(|b| b.column(0).as_ref()).collect();
        let mut labels: StringArray = match columns.is_empty() {
            true => StringArray::from(Vec::<Option<&str>>::new()),
            false => concat(&columns)?.as_string::<i32>().clone(),
        };
        let null = labels.iter().position(|label| label.is_none());
        let alike = null
            .filter(|_| known.text == CSV_TEXT)
            .map(|null| [null as u32, labels.len() as u32]);
        if alike.is_some() {
            labels = labels.iter().chain([Some("")]).collect();
        }
        if known.form.is_of_class() || known.form == LabelForm::Midpoint {
            let points = match known.level().filter(|_| known.hierarchy.is_some()) {
                Some(level) => SingleValues::of(known.form, &lookup, level, &labels)?,
                None => None,
            };
            let own = |points| Self::new(Proof::Points(points), &labels, &values, alike, known);
            return points.map(own).transpose();
        }
        let is_ordered = lookup.is_ordered();
        let cover = Cover::new(Arc::new(lookup), labels.clone())?;
        let is_read = |(i, label): (usize, Option<&str>)| label.is_none_or(|l| l == TOP) || cover.reads(i);
        if known.hierarchy.is_none() {
            // A label that equals a value of the source stands for that value. If a hierarchy gives
            // the label another meaning, the statement can name that hierarchy.
            let texts = written(&values)?;
            let own: HashSet<Option<&str>> = texts.iter().collect();
            let is_own = |label: Option<&str>| label.is_none_or(|l| l == TOP) || own.contains(&label);
            let can_read = is_ordered && labels.iter().enumerate().all(is_read);
            if !(can_read || labels.iter().all(is_own)) {
                return Ok(None);
            }
        }
        let proof = Proof::Labels(Proven::new(Arc::new(cover)));
        Self::new(proof, &labels, &values, alike, known).map(Some)
    }

    fn new(
        proof: Proof,
        labels: &StringArray,
        values: &ArrayRef,
        alike: Option<[u32; 2]>,
        known: &Known,
    ) -> Result<Self> {
        let values = written(values)?;
        let numbered = |texts: &StringArray| texts.iter().map(|t| t.map(str::to_string)).zip(0..).collect();
        let null = labels.iter().position(|label| label.is_none());
        Ok(Self {
            labels: numbered(labels),
            codes: numbered(&values),
            any: null.filter(|_| known.form != LabelForm::Text).map(|null| null as u32),
            proof,
            alike,
        })
    }

    fn covers(&mut self, code: u32, label: u32) -> bool {
        if self.any == Some(label) {
            return true;
        }
        let other = self.alike.filter(|[null, _]| *null == label).map(|[_, empty]| empty);
        let mut covers = |label: u32| match &mut self.proof {
            Proof::Labels(proven) => proven.covers(code, label),
            Proof::Points(points) => points.covers(code, label),
        };
        covers(label) || other.is_some_and(covers)
    }
}

/// The rows that have the same values in the unchanged columns: the distinct released rows, and the
/// distinct rows of the source.
#[derive(Default)]
struct Block {
    sides: [Vec<Vec<u32>>; 2],
    rows: [Vec<u64>; 2],
    /// For each released row, whether the row looks suppressed.
    looks: Vec<bool>,
}

/// The number of released rows that cannot be matched.
struct Missing {
    rows: u64,
    /// The number of unmatched rows that look suppressed, and could be suppressed rows.
    alike: u64,
    /// Whether a flow was computed for every block, so that no source row was used twice.
    is_whole: bool,
}

/// Counts the rows that cannot be matched. The columns of `sql` are: `keys` unchanged columns, the
/// labels or values, the side (0 for released, 1 for source), whether the row looks suppressed, and
/// the number of rows.
async fn unmatched(session: &SessionContext, sql: &str, keys: usize, covered: &mut [Covered]) -> Result<Missing> {
    let mut stream = session
        .sql(sql)
        .await?
        .execute_stream()
        .await
        .map_err(Error::from_data)?;
    let fields = stream.schema().fields().clone();
    let kept = fields.iter().take(keys).map(|f| SortField::new(f.data_type().clone()));
    let converter = RowConverter::new(kept.collect())?;
    let mut missing = Missing {
        rows: 0,
        alike: 0,
        is_whole: true,
    };
    let mut block = Block::default();
    let mut last: Option<Vec<u8>> = None;
    while let Some(batch) = stream.next().await {
        let batch: RecordBatch = batch.map_err(Error::from_data)?;
        let rows = match keys {
            0 => None,
            _ => Some(converter.convert_columns(&batch.columns()[..keys])?),
        };
        let column = |i: usize| batch.column(keys + i);
        let sides = cast(column(covered.len()), &DataType::Int64)?;
        let looks = cast(column(covered.len() + 1), &DataType::Int64)?;
        let (sides, looks) = (sides.as_primitive::<Int64Type>(), looks.as_primitive::<Int64Type>());
        let counts = column(covered.len() + 2).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let key = rows.as_ref().map_or(&[][..], |rows| rows.row(row).data());
            if last.as_deref() != Some(key) {
                block.settle(covered, &mut missing);
                last = Some(key.to_vec());
            }
            let side = usize::from(sides.value(row) == 1);
            let place = |(i, own): (usize, &Covered)| {
                let texts = column(i).as_string::<i32>();
                let text = texts.is_valid(row).then(|| texts.value(row).to_string());
                [&own.labels, &own.codes][side].get(&text).copied()
            };
            let places: Option<Vec<u32>> = covered.iter().enumerate().map(place).collect();
            let places = places.ok_or_else(|| Error::data("the rows changed while they were checked"))?;
            block.sides[side].push(places);
            block.rows[side].push(counts.value(row).unsigned_abs());
            if side == 0 {
                block.looks.push(looks.value(row) != 0);
            }
        }
    }
    block.settle(covered, &mut missing);
    Ok(missing)
}

impl Block {
    /// Counts the rows of this block that have no match, and starts a new block.
    fn settle(&mut self, covered: &mut [Covered], missing: &mut Missing) {
        let Block { sides, rows, looks } = std::mem::take(self);
        let [released, source] = sides;
        let (mut pairs, mut within) = (vec![], true);
        let mut reached = vec![0u64; released.len()];
        let mut covering = Covering::new(&released, covered.len());
        for (to, values) in source.iter().enumerate() {
            for from in covering.of(covered, values) {
                reached[from] += rows[1][to];
                if pairs.len() < PAIRS {
                    pairs.push((from as u32, to as u32));
                } else {
                    within = false;
                }
            }
        }
        missing.is_whole &= within;
        let (own, alike): (Vec<usize>, Vec<usize>) = (0..released.len()).partition(|i| !looks[*i]);
        let sum = |of: &[usize], n: &dyn Fn(usize) -> u64| of.iter().map(|i| n(*i)).sum::<u64>();
        if !within {
            let beyond = |i: usize| rows[0][i].saturating_sub(reached[i]);
            missing.rows += sum(&own, &beyond);
            missing.alike += sum(&alike, &beyond);
            return;
        }
        let all: u64 = rows[0].iter().sum();
        let unmatched = all - matched(&rows[0], &rows[1], &pairs);
        // The ordinary rows are those that do not look suppressed. Some maximum matching of all
        // rows leaves no more ordinary rows unmatched than a maximum matching of the ordinary rows
        // alone.
        let first = match alike.is_empty() {
            true => unmatched,
            false => {
                let alone: Vec<u64> = (0..released.len())
                    .map(|i| if looks[i] { 0 } else { rows[0][i] })
                    .collect();
                alone.iter().sum::<u64>() - matched(&alone, &rows[1], &pairs)
            }
        };
        missing.rows += first;
        missing.alike += unmatched - first;
    }
}

/// The released rows of a block that cover a value, as bit sets.
struct Covering<'a> {
    released: &'a [Vec<u32>],
    /// For each column and each code of a value, the released rows whose label covers the value.
    by_value: Vec<HashMap<u32, Vec<u64>>>,
    held: usize,
}

/// The maximum number of words of bit sets that are cached. If more words are cached, the cache is
/// cleared.
const HELD: usize = 1 << 25;

impl<'a> Covering<'a> {
    fn new(released: &'a [Vec<u32>], columns: usize) -> Self {
        Self {
            released,
            by_value: vec![HashMap::new(); columns],
            held: 0,
        }
    }

    /// Returns the rows whose labels cover these values in every column.
    fn of(&mut self, covered: &mut [Covered], values: &[u32]) -> Vec<usize> {
        let words = self.released.len().div_ceil(64);
        if self.held > HELD {
            self.by_value.iter_mut().for_each(HashMap::clear);
            self.held = 0;
        }
        let mut all = vec![u64::MAX; words];
        for (column, (own, code)) in covered.iter_mut().zip(values).enumerate() {
            let (released, held) = (self.released, &mut self.held);
            let bits = self.by_value[column].entry(*code).or_insert_with(|| {
                *held += words;
                let mut bits = vec![0u64; words];
                for (row, labels) in released.iter().enumerate() {
                    bits[row / 64] |= u64::from(own.covers(*code, labels[column])) << (row % 64);
                }
                bits
            });
            all.iter_mut().zip(bits).for_each(|(all, bits)| *all &= *bits);
        }
        let rows = |(word, bits): (usize, u64)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word * 64 + bit)
        };
        all.into_iter()
            .enumerate()
            .filter(|(_, bits)| *bits != 0)
            .flat_map(rows)
            .collect()
    }
}
