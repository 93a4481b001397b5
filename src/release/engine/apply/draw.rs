//! Drawing the permutations of the randomized columns of a release.

use super::plan;
use super::recoding_plan::recoding_of;
use super::surveyed::Surveyed;
use super::tally::{ColumnTally, Counted, finish};
use super::treatments::treatments;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::base::spill::SpillSpace;
use crate::data::frequency::gathered;
use crate::data::recode::randomize::{Numbering, Order, Permutation, RandomSource, Sequence, order};
use crate::data::recode::{ColumnTreatment, RecodingPlan, Released, SUPPRESSED};
use crate::release::engine::decide::Decision;
use crate::release::job::{Input, Job, Randomization};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::{cast, filter_record_batch, not};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::dataframe::DataFrame;
use datafusion::physical_plan::{ExecutionPlan, collect, execute_stream_partitioned};
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The maximum number of rows of a permutation matrix. The memory grows with the square of this
/// number.
const MATRIX_ROWS: usize = 4_096;

/// The release whose permutations are drawn.
#[derive(Clone, Copy)]
struct Drawing<'a> {
    job: &'a Job,
    decision: &'a Decision,
    source: &'a Surveyed,
    /// The columns by which the rows are ordered first.
    first: &'a [String],
    /// Whether the mutual information is computed.
    measure: bool,
}

/// Draws the permutations of the randomized columns. A permutation from a matrix applies to the
/// rows ordered by the columns of `first`, and then by all other columns. If `measure` is true,
/// also computes the mutual information between each column and the released classes.
pub(super) async fn draw(
    job: &Job,
    decision: &Decision,
    source: &Surveyed,
    first: &[String],
    measure: bool,
) -> Result<Arc<Vec<Arc<Permutation>>>> {
    let drawing = Drawing {
        job,
        decision,
        source,
        first,
        measure,
    };
    let mut permutations = survey(job, decision, source, measure).await?;
    for (place, sensitive) in job.roles.sensitive.iter().enumerate() {
        if let Some(Randomization::Matrix { name, rows }) = &sensitive.randomization {
            let matrix = read_matrix(name, rows, decision.verdict.released).await?;
            permutations.push((place, draw_by_matrix(drawing, &sensitive.column, matrix).await?));
        }
    }
    permutations.sort_by_key(|(place, _)| *place);
    Ok(Arc::new(
        permutations
            .into_iter()
            .map(|(_, permutation)| Arc::new(permutation))
            .collect(),
    ))
}

fn spill_space(input: &Input) -> SpillSpace {
    SpillSpace::of(&input.source.rows.task_ctx())
}

/// Counts all randomly permuted columns in one scan of the released rows, and draws their
/// permutations. Returns each permutation with the index of its column in `job.roles.sensitive`.
async fn survey(job: &Job, decision: &Decision, source: &Surveyed, measure: bool) -> Result<Vec<(usize, Permutation)>> {
    let named = job.roles.sensitive.iter().enumerate();
    let randomized: Vec<(usize, &str, &Randomization)> = named
        .filter_map(|(place, s)| Some((place, s.column.as_str(), s.randomization.as_ref()?)))
        .filter(|(_, _, r)| !matches!(r, Randomization::Matrix { .. }))
        .collect();
    if randomized.is_empty() {
        return Ok(vec![]);
    }
    let within = |r: &Randomization| match r {
        Randomization::Columns(columns) => columns.clone(),
        _ => vec![],
    };
    let mut needed: Vec<String> = randomized.iter().map(|(_, column, _)| column.to_string()).collect();
    needed.extend(randomized.iter().flat_map(|(_, _, r)| within(r)));
    let columns = treatments(job, decision, source, &[])?
        .into_iter()
        .filter(|c| needed.contains(&c.name))
        .collect();
    let recoding = Arc::new(recoding_of(job, decision, columns)?);
    let numbering = numbering(decision, &recoding).await?;
    let rows = plan::recoded(&source.rows, recoding).await?;
    let (schema, spill_space) = (rows.schema(), spill_space(&job.input));
    let tallies = randomized.iter().map(|(_, column, r)| {
        let by_class = measure || matches!(r, Randomization::Class);
        Ok((
            within(r),
            Mutex::new(ColumnTally::new(column, &schema, &within(r), by_class, &spill_space)?),
        ))
    });
    let tallies = Arc::new(tallies.collect::<Result<Vec<_>>>()?);
    scan(rows, &source.rows, &tallies, &numbering).await?;
    let tallies = Arc::into_inner(tallies).ok_or_else(|| Error::internal("a scan goes on after its end"))?;

    let seed = job.goal.seed;
    let mut tasks = vec![];
    for ((place, _, randomization), (columns, tally)) in randomized.into_iter().zip(tallies) {
        let numbers = RandomSource {
            seed,
            column: place as u32,
        };
        let in_class = matches!(randomization, Randomization::Class);
        let (spill_space, classes) = (spill_space.clone(), numbering.classes());
        let finish = move || {
            finish(
                tally.into_inner(),
                columns,
                in_class.then_some(classes),
                numbers,
                &spill_space,
            )
        };
        tasks.push((place, blocking("drawing a permutation", finish)));
    }
    let mut permutations = vec![];
    for (place, task) in tasks {
        permutations.push((place, task.await?));
    }
    Ok(permutations)
}

/// Returns the numbering that maps a row to the index of its class.
pub(super) async fn numbering(decision: &Decision, recoding: &Arc<RecodingPlan>) -> Result<Arc<Numbering>> {
    let (recoding, classes) = (Arc::clone(recoding), Arc::clone(&decision.classes));
    let kept = decision.verdict.kept.clone();
    let number = move || Ok(Arc::new(Numbering::new(&recoding, &classes, &kept)));
    blocking("numbering the classes", number).await
}

/// Draws the permutation of a column from a matrix. Row i of the matrix belongs to row i of the
/// release before the column is permuted.
async fn draw_by_matrix(drawing: Drawing<'_>, column: &str, matrix: Vec<Vec<f64>>) -> Result<Permutation> {
    let Drawing {
        job,
        decision,
        source,
        first,
        measure,
    } = drawing;
    // The other columns determine the order. Rows that are equal in the other columns are ordered
    // by the column itself.
    let is_other = |c: &Released| job.roles.randomization(&c.name).is_none();
    let mut columns: Vec<Released> = treatments(job, decision, source, &[])?
        .into_iter()
        .filter(is_other)
        .collect();
    columns.push(Released {
        name: column.into(),
        treatment: ColumnTreatment::Protect,
    });
    let recoding = Arc::new(recoding_of(job, decision, columns)?);
    let numbering = numbering(decision, &recoding).await?;
    let rows = plan::plan(&source.rows, recoding, first, &[], &[]).await?;
    let (schema, spill_space) = (rows.schema(), spill_space(&job.input));
    let mut tally = ColumnTally::new(column, &schema, &[], measure, &spill_space)?;
    let mut codes = vec![];
    let context = Arc::new(job.input.source.rows.task_ctx());
    for batch in collect(rows, context).await.map_err(Error::from_data)? {
        let batch = without_suppressed(batch)?;
        let values = batch.column(schema.index_of(column)?);
        codes.extend(tally.add(&classes(&numbering, &batch)?, &[], values)?);
    }
    if codes.len() != matrix.len() {
        return Err(Error::data("the source changed during the run"));
    }
    let permute = move || {
        let taken = order(&matrix);
        let counted = Counted::of(tally)?;
        let permuted: Vec<u32> = taken.into_iter().map(|i| counted.ranks[codes[i] as usize]).collect();
        let sequence = Sequence::given(&permuted, &spill_space);
        counted.permuted(Order::Rows(Arc::new(sequence)))
    };
    blocking("permuting by a matrix", permute).await
}

/// Returns the rows of `batch` that are permuted. Leaves out suppressed rows, because they have no
/// value in a sensitive column.
fn without_suppressed(batch: RecordBatch) -> Result<RecordBatch> {
    match batch.column_by_name(SUPPRESSED) {
        Some(suppressed) => Ok(filter_record_batch(&batch, &not(suppressed.as_boolean())?)?),
        None => Ok(batch),
    }
}

/// Returns the index of the class of each row. Fails with `ErrorKind::Data` if a row has no class.
fn classes(numbering: &Numbering, batch: &RecordBatch) -> Result<Vec<u32>> {
    let numbers = numbering.of(batch)?.into_iter();
    let known = |n: Option<u32>| n.ok_or_else(|| Error::data("the source changed during the run"));
    numbers.map(known).collect()
}

/// Executes `plan`, which recodes `rows`, and adds the values of every counted column to the
/// column's entry in `tallies`. A separate task reads each partition.
async fn scan(
    plan: Arc<dyn ExecutionPlan>,
    rows: &DataFrame,
    tallies: &Arc<Vec<(Vec<String>, Mutex<ColumnTally>)>>,
    numbering: &Arc<Numbering>,
) -> Result<()> {
    let streams = execute_stream_partitioned(plan, Arc::new(rows.task_ctx())).map_err(Error::from_data)?;
    let mut tasks = JoinSet::new();
    for (number, mut stream) in streams.into_iter().enumerate() {
        let (tallies, numbering) = (Arc::clone(tallies), Arc::clone(numbering));
        let by_class = tallies.iter().any(|(_, tally)| tally.lock().classes.is_some());
        tasks.spawn(async move {
            while let Some(batch) = stream.next().await {
                let batch = without_suppressed(batch.map_err(Error::from_data)?)?;
                let classes = if by_class { classes(&numbering, &batch)? } else { vec![] };
                // Each partition starts with a different column, so that the tasks rarely wait for
                // each other's lock.
                for i in 0..tallies.len() {
                    let (within, tally) = &tallies[(number + i) % tallies.len()];
                    let column = |name: &String| {
                        let found = batch.column_by_name(name);
                        found
                            .cloned()
                            .ok_or_else(|| Error::internal("a counted column is missing"))
                    };
                    let groups = within.iter().map(column).collect::<Result<Vec<_>>>()?;
                    let mut tally = tally.lock();
                    let values = column(&tally.column)?;
                    tally.add(&classes, &groups, &values)?;
                }
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|e| Error::from_task("a scan task", &e))??;
    }
    Ok(())
}

/// Reads a matrix. Fails if the matrix is not square, if it does not have one row for each of the
/// `released` rows, if it has more than [`MATRIX_ROWS`] rows, or if it has an entry that is not a
/// finite number.
async fn read_matrix(name: &str, rows: &DataFrame, released: u64) -> Result<Vec<Vec<f64>>> {
    let columns = rows.schema().fields().len();
    if released as usize != columns || released as usize > MATRIX_ROWS {
        return Err(Error::usage(format!(
            "the release has {released} rows, and the matrix {name} {columns} columns: a matrix has one row and one column \
             for each row that is released, {MATRIX_ROWS} at most; RANDOMIZED without a matrix draws a random permutation \
             for any number of rows"
        )));
    }
    let matrix = gathered(rows.clone().limit(0, Some(columns + 1))?).await?;
    if matrix.num_rows() != columns {
        return Err(Error::usage(format!(
            "the matrix {name} has {columns} columns and a different number of rows; it must be square"
        )));
    }
    let mut read = vec![vec![]; columns];
    for column in matrix.columns() {
        let numbers = match column.data_type().is_numeric() {
            true => cast(column, &DataType::Float64)?,
            false => {
                return Err(Error::usage(format!(
                    "the matrix {name} has a column that is not numeric"
                )));
            }
        };
        for (row, number) in read.iter_mut().zip(numbers.as_primitive::<Float64Type>()) {
            let number = number.filter(|n| n.is_finite());
            row.push(
                number.ok_or_else(|| {
                    Error::data(format!("the matrix {name} has an entry that is not a finite number"))
                })?,
            );
        }
    }
    Ok(read)
}
