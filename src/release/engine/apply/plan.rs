//! The ordered plan that rewrites the source to the rows of a release, and a table over this plan.

use crate::base::error::Result;
use crate::base::operator::{ComputedTable, Operator, Rows, project};
use crate::data::recode::{DecodeExec, ORDER_PREFIX, PackedSortExec, RecodeExec, RecodingPlan, SUPPRESSED};
use crate::data::source::{select_columns, source_plan};
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use std::fmt;
use std::sync::Arc;

/// Returns the plan of a release. The plan orders the rows by the columns of `first`, then by all
/// other columns, and finally by the columns of `last`. The columns of the order key follow the
/// released columns in each row.
///
/// Only released values define the order: first the columns of PARTITIONED BY, then the
/// quasi-identifiers in the order of the statement, then the other columns in the order of the
/// source. Labels ascend by the bytes of their texts, other values by the order of their type, and
/// NULL comes last. The order therefore reveals nothing beyond the rows. Only equal rows can
/// exchange their positions, so the result does not depend on the order of the input.
/// [`super::order`] checks the order.
///
/// Texts in the columns of `coded` remain dictionaries if they are read as dictionaries.
pub(in crate::release::engine) async fn plan(
    source: &DataFrame,
    recoding: Arc<RecodingPlan>,
    first: &[String],
    last: &[String],
    coded: &[String],
) -> Result<Arc<dyn ExecutionPlan>> {
    let source = read(source, &recoding).await?;
    let released = source.released_in_dictionaries(&recoding, coded);
    let Arrangement {
        carried,
        schema,
        sorted,
    } = Arrangement::of(&released, &recoding, first, last)?;
    let rows = project(source.recoded(Arc::clone(&recoding)), &carried)?;
    let ordered = Arc::new(PackedSortExec::over_rows(rows, sorted, schema));
    Ok(Arc::new(DecodeExec::over_ordered(ordered, recoding, released)))
}

/// The columns of a release that pass through the sort, and the columns by which the rows are
/// sorted.
pub(in crate::release::engine) struct Arrangement {
    /// The indices of the columns that pass through the sort.
    pub(in crate::release::engine) carried: Vec<usize>,
    /// The schema of these columns.
    pub(in crate::release::engine) schema: SchemaRef,
    /// The indices of the columns of `schema`, in the order in which the columns are compared.
    pub(in crate::release::engine) sorted: Vec<usize>,
}

impl Arrangement {
    /// Returns the arrangement of rows of the schema `released`, in the order that [`plan`]
    /// defines.
    pub(in crate::release::engine) fn of(
        released: &SchemaRef,
        recoding: &RecodingPlan,
        first: &[String],
        last: &[String],
    ) -> Result<Self> {
        // Columns that the order key determines are neither compared nor passed through the sort,
        // unless they are in `first`.
        let is_told = |name: &str| recoding.is_in_order_key(name) && !first.iter().any(|f| f == name);
        let carried: Vec<usize> = (0..released.fields().len())
            .filter(|i| !is_told(released.field(*i).name()))
            .collect();
        let schema = Arc::new(released.project(&carried)?);
        let is_order =
            |i: &usize| schema.field(*i).name() != SUPPRESSED && schema.field(*i).name().starts_with(ORDER_PREFIX);
        let places = |names: &[String]| {
            let places = names.iter().map(|name| Ok(schema.index_of(name)?));
            places.collect::<Result<Vec<usize>>>()
        };
        let (partition, hidden) = (places(first)?, places(last)?);
        let all = 0..schema.fields().len();
        let order = all.clone().filter(is_order);
        let is_other = |i: &usize| !is_order(i) && schema.field(*i).name() != SUPPRESSED && !hidden.contains(i);
        let others = all.filter(is_other);
        // A reader cannot distinguish rows with equal released values. Columns that are not
        // released, and the mark of suppressed rows, are compared last, so that the order does not
        // reveal them.
        let suppressed = schema.index_of(SUPPRESSED).ok();
        let mut sorted: Vec<usize> = vec![];
        for i in partition
            .into_iter()
            .chain(order)
            .chain(others)
            .chain(hidden.clone())
            .chain(suppressed)
        {
            if !sorted.contains(&i) {
                sorted.push(i);
            }
        }
        Ok(Self {
            carried,
            schema,
            sorted,
        })
    }
}

/// Returns the rows of a release in no particular order, with the columns of the order key last.
/// Strings in kept columns have the string type of the scan.
pub(in crate::release::engine) async fn recoded(
    rows: &DataFrame,
    recoding: Arc<RecodingPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(read(rows, &recoding).await?.recoded(recoding))
}

/// The second scan of the source.
struct Read {
    rows: Arc<dyn ExecutionPlan>,
    /// The schema of the released columns, followed by the columns of the order key.
    released: SchemaRef,
}

/// Returns a plan that reads only the columns of the source that a recoding plan needs.
pub(in crate::release::engine) async fn columns_read(
    rows: &DataFrame,
    recoding: &RecodingPlan,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut names: Vec<&str> = vec![];
    for name in recoding.reads() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(select_columns(rows, &names)?.create_physical_plan().await?)
}

async fn read(rows: &DataFrame, recoding: &RecodingPlan) -> Result<Read> {
    let rows = columns_read(rows, recoding).await?;
    Ok(Read {
        released: recoding.ordered_schema(&rows.schema())?,
        rows: source_plan(rows).await?,
    })
}

impl Read {
    /// Returns the schema of the released columns and of the order key, with dictionaries for those
    /// texts of `coded` that are read as dictionaries.
    fn released_in_dictionaries(&self, recoding: &RecodingPlan, coded: &[String]) -> SchemaRef {
        let read = recoding.as_read(&self.released, &self.rows.schema());
        let field = |(released, read): (&FieldRef, &FieldRef)| {
            let is_read = matches!(read.data_type(), DataType::Dictionary(..));
            match is_read && *released.data_type() == DataType::Utf8 && coded.contains(released.name()) {
                true => {
                    let [codes, texts] = [DataType::Int32, DataType::Utf8].map(Box::new);
                    let dictionary = DataType::Dictionary(codes, texts);
                    Arc::new(released.as_ref().clone().with_data_type(dictionary))
                }
                false => Arc::clone(released),
            }
        };
        let fields = self.released.fields().iter().zip(read.fields()).map(field);
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn recoded(self, recoding: Arc<RecodingPlan>) -> Arc<dyn ExecutionPlan> {
        let schema = recoding.as_read(&self.released, &self.rows.schema());
        Arc::new(RecodeExec::over_source(self.rows, recoding, schema))
    }
}

/// Returns a table over a plan made by [`plan`]. The plan is executed with the settings of `state`.
pub(in crate::release::engine) fn table_over(
    plan: Arc<dyn ExecutionPlan>,
    state: SessionState,
) -> Result<ComputedTable<PlanRows>> {
    let plan = without_order_key(plan, &[])?;
    let schema = plan.schema();
    Ok(ComputedTable::new(PlanRows { plan, state }, schema))
}

/// Returns `plan` without the columns of the order key, except those that `kept` names.
pub(in crate::release::engine) fn without_order_key(
    plan: Arc<dyn ExecutionPlan>,
    kept: &[String],
) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = plan.schema();
    let is_order = |i: &usize| {
        let name = schema.field(*i).name();
        name.starts_with(ORDER_PREFIX) && !kept.contains(name)
    };
    let kept: Vec<usize> = (0..schema.fields().len()).filter(|i| !is_order(i)).collect();
    Ok(project(plan, &kept)?)
}

/// The rows of a plan, which is executed again for each read.
#[derive(Debug)]
pub(in crate::release::engine) struct PlanRows {
    plan: Arc<dyn ExecutionPlan>,
    state: SessionState,
}

impl fmt::Display for PlanRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows of a release")
    }
}

impl Operator for PlanRows {
    const NAME: &'static str = "MadeExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        // A plan keeps the state of its execution: a file scan that has returned all its files
        // returns no rows the second time. Every check is a separate query, so the state is reset
        // before each execution.
        let plan = reset_plan_states(Arc::clone(&self.plan))?;
        Ok(execute_stream(plan, self.state.task_ctx())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{CsvReadOptions, SessionContext};

    /// Tests that a table over a plan returns all rows to every query, although the plan returns
    /// each file only once.
    #[tokio::test]
    async fn a_release_can_be_read_again() {
        let scratch = tempfile::tempdir().unwrap();
        for (name, rows) in [("a.csv", "a,b\n3,x\n1,y\n"), ("b.csv", "a,b\n2,z\n")] {
            std::fs::write(scratch.path().join(name), rows).unwrap();
        }
        let session = SessionContext::new();
        let path = scratch.path().display().to_string();
        let source = session.read_csv(path, CsvReadOptions::new()).await.unwrap();
        let plan = source.create_physical_plan().await.unwrap();
        let table = table_over(plan, session.state()).unwrap();
        session.register_table("released", Arc::new(table)).unwrap();
        let read = async |sql: &str| {
            let batches = session.sql(sql).await.unwrap().collect().await.unwrap();
            arrow::util::pretty::pretty_format_batches(&batches)
                .unwrap()
                .to_string()
        };
        let first = read("SELECT a, b FROM released ORDER BY a").await;
        assert!(["x", "y", "z"].iter().all(|b| first.contains(b)), "{first}");
        assert_eq!(read("SELECT a, b FROM released ORDER BY a").await, first);
        let twice = read("SELECT count(*) FROM released AS x JOIN released AS y ON x.a = y.a").await;
        assert!(twice.contains("| 3 "), "{twice}");
    }
}
