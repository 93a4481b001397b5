//! Surveys a table for SUGGEST ROLES: collects facts about its columns, and a sample of its rows.
//!
//! A single scan counts the values of all columns. The sample contains rows at equal distances in
//! stored order, so that the result is the same every time. If the whole table fits into the
//! sample, all counts are exact.

use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::source::stored;
use crate::method::suggest::{Facts, ValueKind};
use crate::release::job::SourceTable;
use crate::release::observe::{Observer, Phase};
use crate::release::recount::recounting_session;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt64Array};
use arrow::compute::{cast, concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;

/// The name of the surveyed table in the sessions that read it.
const TABLE: &str = "suggested";
/// The maximum number of rows in the sample.
const SAMPLED: u64 = 50_000;
/// The approximate number of values whose form is examined for each column.
const FORMS: usize = 2_000;

/// The facts about a table, and a sample of its rows.
pub(super) struct TableSurvey {
    /// The number of rows in the table.
    pub(super) rows: u64,
    /// The facts about each column, in the order of the columns.
    pub(super) facts: Vec<Facts>,
    /// The sampled rows, without columns that cannot be generalized.
    pub(super) sample: RecordBatch,
}

impl TableSurvey {
    /// Surveys a table. Fails with a usage error if two columns have the same name.
    pub(super) async fn of(source: SourceTable, observer: &dyn Observer) -> Result<Self> {
        let schema = Arc::clone(source.rows.schema().inner());
        let names: Vec<&String> = schema.fields().iter().map(|f| f.name()).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(Error::usage(format!(
                "{} has two columns called {twice:?}",
                source.name
            )));
        }
        let (state, plan) = source.rows.into_parts();
        let progress = observer.begin(Phase::Measure);
        let counting = recounting_session(&state, Arc::clone(&progress));
        counting.register_table(TABLE, Arc::new(ViewTable::new(plan.clone(), None)))?;
        let (rows, counts) = counts(&counting, &schema).await?;
        let mut one_by_one = state.clone();
        one_by_one.config_mut().options_mut().execution.target_partitions = 1;
        let in_order = recounting_session(&one_by_one, progress);
        in_order.register_table(TABLE, Arc::new(ViewTable::new(plan, None)))?;
        let distance = rows.div_ceil(SAMPLED).max(1);
        let sample = sample(&in_order, &schema, distance).await?;
        let fields = schema.fields().iter().zip(counts);
        let facts = fields.map(|(field, counts)| {
            let column = sample.column_by_name(field.name());
            facts(field, rows, counts, column, distance == 1)
        });
        Ok(Self {
            rows,
            facts: facts.collect::<Result<_>>()?,
            sample,
        })
    }
}

/// The figures of one column from the scan of the whole table.
struct Counts {
    values: u64,
    /// The estimated number of distinct values.
    distinct: u64,
    /// For numbers, the maximum minus the minimum; for dates, the year of the earliest date.
    range: Option<f64>,
    /// The number of values that are NaN or infinite.
    endless: u64,
}

/// Returns the number of rows in the table, and the figures of each column.
async fn counts(session: &SessionContext, schema: &Schema) -> Result<(u64, Vec<Counts>)> {
    let mut asked = vec!["count(*)".to_string()];
    for field in schema.fields() {
        let name = quote(field.name());
        let text = format!("arrow_cast({name}, 'Utf8')");
        let kind = ValueKind::of(field.data_type());
        // approx_distinct does not accept every type, so values of other types are cast to text.
        let distinct = match kind {
            ValueKind::Nested | ValueKind::Binary => "0".into(),
            ValueKind::Number | ValueKind::Other => format!("approx_distinct({text})"),
            _ if matches!(field.data_type(), DataType::Dictionary(..)) => format!("approx_distinct({text})"),
            ValueKind::Text | ValueKind::Integer | ValueKind::Date => format!("approx_distinct({name})"),
        };
        let range = match kind {
            ValueKind::Integer | ValueKind::Number => {
                format!("CAST(max({name}) AS DOUBLE) - CAST(min({name}) AS DOUBLE)")
            }
            ValueKind::Date => format!("CAST(date_part('year', min({name})) AS DOUBLE)"),
            _ => "0".into(),
        };
        let endless = match field.data_type().is_floating() {
            true => format!("count(*) FILTER (WHERE isnan({name}) OR abs({name}) = CAST('Infinity' AS DOUBLE))"),
            false => "0".into(),
        };
        asked.extend([format!("count({name})"), distinct, range, endless]);
    }
    let selected: Vec<String> = asked.iter().enumerate().map(|(i, a)| format!("{a} AS a{i}")).collect();
    let answers = numbers(session, &format!("SELECT {} FROM {TABLE}", selected.join(", "))).await?;
    let answer = |i: usize| answers.get(i).copied().flatten();
    let count = |i: usize| answer(i).unwrap_or(0.0) as u64;
    let columns = (0..schema.fields().len()).map(|column| {
        let first = 1 + 4 * column;
        Counts {
            values: count(first),
            distinct: count(first + 1).min(count(first)),
            range: answer(first + 2),
            endless: count(first + 3),
        }
    });
    Ok((count(0), columns.collect()))
}

/// Returns the numbers in the single result row of a query.
async fn numbers(session: &SessionContext, sql: &str) -> Result<Vec<Option<f64>>> {
    let batches = session.sql(sql).await?.collect().await.map_err(Error::from_data)?;
    let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else {
        return Ok(vec![]);
    };
    let number = |column: &ArrayRef| -> Result<Option<f64>> {
        let values = cast(column, &DataType::Float64)?;
        let values = values.as_primitive::<Float64Type>();
        Ok((!values.is_null(0)).then(|| values.value(0)))
    };
    batch.columns().iter().map(number).collect()
}

/// Returns the rows whose position in stored order is a multiple of `distance`. Columns that cannot
/// be generalized are left out.
async fn sample(session: &SessionContext, schema: &Schema, distance: u64) -> Result<RecordBatch> {
    let flat = |t: &DataType| !matches!(ValueKind::of(t), ValueKind::Nested | ValueKind::Binary);
    let names = schema.fields().iter().filter(|f| flat(f.data_type()));
    let names: Vec<String> = names.map(|f| quote(f.name())).collect();
    if names.is_empty() {
        return Ok(RecordBatch::new_empty(Arc::new(Schema::empty())));
    }
    let mut rows = stored(session, &format!("SELECT {} FROM {TABLE}", names.join(", "))).await?;
    let (mut taken, mut next) = (vec![], 0);
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(Error::from_data)?;
        let count = batch.num_rows() as u64;
        let chosen: UInt64Array = (next..count).step_by(distance as usize).collect::<Vec<u64>>().into();
        next = (next + distance * chosen.len() as u64) - count;
        taken.push(match distance {
            1 => batch,
            _ => take_record_batch(&batch, &chosen)?,
        });
    }
    Ok(concat_batches(&rows.schema(), &taken)?)
}

/// Returns the facts about a column, based on its figures and its sampled values. `is_whole` tells
/// whether the sample contains the whole table.
fn facts(field: &Field, rows: u64, counts: Counts, column: Option<&ArrayRef>, is_whole: bool) -> Result<Facts> {
    let kind = ValueKind::of(field.data_type());
    let mut facts = Facts {
        name: field.name().clone(),
        kind,
        rows,
        values: counts.values,
        distinct: counts.distinct,
        estimated: !is_whole,
        separation: 0.0,
        range: counts
            .range
            .filter(|_| matches!(kind, ValueKind::Integer | ValueKind::Number)),
        oldest: counts.range.filter(|_| kind == ValueKind::Date).map(|year| year as i32),
        is_finite: counts.endless == 0,
        sample: vec![],
    };
    let Some(column) = column else {
        return Ok(facts);
    };
    let texts = cast(column, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    let mut groups: HashMap<Option<&str>, u64> = HashMap::new();
    for text in texts {
        *groups.entry(text).or_default() += 1;
    }
    // In `separation`, NULL counts as a value like any other. In `distinct`, it does not count.
    let alike: u64 = groups.values().map(|n| n * (n - 1)).sum();
    facts.separation = apart(alike as f64, texts.len() as f64);
    if is_whole {
        facts.distinct = groups.keys().flatten().count() as u64;
    }
    let distance = (texts.len() / FORMS).max(1);
    let values = texts.iter().flatten().step_by(distance);
    facts.sample = values.map(str::to_string).collect();
    Ok(facts)
}

/// Returns the fraction of row pairs with different values. `alike` is the number of pairs with
/// equal values, in which each pair is counted in both orders.
fn apart(alike: f64, rows: f64) -> f64 {
    match rows > 1.0 {
        true => 1.0 - alike / (rows * (rows - 1.0)),
        false => 0.0,
    }
}
