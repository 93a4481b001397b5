//! The recount on workers.
//!
//! The SQL of the recount and its plan in the driver, which runs the session, do not change, with
//! one exception. Workers compute the *partial* aggregates over files, each worker on a slice of
//! the files. Without workers, each partition of the plan computes its own partial aggregate. The
//! driver combines the partial counts, as it combines the counts of its own partitions. The driver
//! receives the counts of a slice together, once they are complete. If a worker is lost, another
//! worker gets its slice.

use super::ends::{self, Ends};
use super::session::Workers;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::release::cluster::{Cluster, Gathered, Member, Sent, TaskOutput, by_file, left_undone, slices};
use crate::release::engine::apply::{Ascending, AscendingExec};
use crate::release::engine::executor::interface::Recounting;
use crate::release::engine::write::{Writers, Written};
use crate::release::job::Roles;
use crate::release::recount::Elsewhere;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode, Partitioning};
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;
use url::Url;

/// The number of slices of a table for each thread of a worker. With several slices per thread, a
/// fast worker can take more slices than a slow worker.
const SLICES: usize = 2;

/// The workers of a recount, with the session that they count for.
pub(super) struct Recounters {
    cluster: Cluster,
    living: Mutex<Vec<Member>>,
    /// The workers that take no part in the recount.
    distrusted: Vec<Url>,
    /// The approximate number of slices into which a table is divided.
    wanted: usize,
    state: SessionState,
}

impl fmt::Debug for Recounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recounters")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

impl Recounters {
    /// Returns the workers, except workers whose reports were refused. Returns `None` if no worker
    /// responds. Fails if workers wrote the files, and no worker is left that could check the order
    /// of the rows.
    pub(super) async fn of(workers: &Workers, written: &Written) -> Result<Option<Self>> {
        let (distrusted, have_ordered) = match &written.writers {
            Writers::Here => (vec![], false),
            Writers::Others { distrusted } => (distrusted.clone(), true),
        };
        let mut members = match workers.cluster.greet().await {
            // This machine can count the files that it wrote.
            Err(e) if !have_ordered && e.kind() == ErrorKind::Unavailable => return Ok(None),
            members => members?,
        };
        members.retain(|member| !distrusted.contains(&member.url));
        let threads: usize = members.iter().map(|member| member.threads.get()).sum();
        match (threads, have_ordered) {
            (0, true) => Err(left_undone()),
            (0, false) => Ok(None),
            _ => Ok(Some(Self {
                cluster: workers.cluster.clone(),
                living: Mutex::new(members),
                distrusted,
                wanted: threads * SLICES,
                state: workers.state.clone(),
            })),
        }
    }

    async fn gather(&self, plans: Vec<Arc<dyn ExecutionPlan>>) -> Result<Gathered> {
        let mut living = self.living.lock().await;
        // If all of these workers are lost, other workers replace them.
        *living = self.cluster.living(&living).await?;
        living.retain(|member| !self.distrusted.contains(&member.url));
        if living.is_empty() {
            return Err(left_undone());
        }
        Ok(self.cluster.gather(&living, plans))
    }

    /// Checks the order of the rows within each file, and across the files of each folder.
    async fn order_checked(
        &self,
        session: &SessionContext,
        table: &str,
        roles: &Roles,
        written: &Written,
    ) -> Result<()> {
        let (_, rows) = session.table(table).await?.into_parts();
        let rows = self.state.create_physical_plan(&rows).await?;
        let unread = || Error::internal("files of workers that they cannot read");
        let files = by_file(&rows, self.state.config()).ok_or_else(unread)?;
        if files.len() != written.files.len() {
            return Err(Error::new(
                ErrorKind::Verification,
                format!(
                    "{} files were written instead of {}; nothing was published",
                    files.len(),
                    written.files.len()
                ),
            ));
        }
        let order = Ascending::of_files(roles, &rows.schema())?;
        let (mut plans, mut places) = (vec![], vec![]);
        for (number, (path, file)) in files.into_iter().enumerate() {
            let checked = AscendingExec::looking(Sent::over(file), order.clone());
            let ends = Ends::over(Arc::new(checked), number as u64);
            plans.push(Arc::new(OperatorExec::looking(Arc::new(ends), TaskOutput)) as _);
            places.push(place(&path).ok_or_else(unread)?);
        }
        let mut gathered = self.gather(plans).await?;
        let mut folders: BTreeMap<&str, BTreeMap<u64, RecordBatch>> = BTreeMap::new();
        while let Some(batches) = gathered.next().await? {
            for batch in batches {
                let (number, ends) = ends::read(&batch)?;
                let (folder, place) = places.get(number).ok_or_else(unread)?;
                folders.entry(folder).or_default().insert(*place, ends);
            }
        }
        if folders.values().map(BTreeMap::len).sum::<usize>() != written.files.len() {
            return Err(unread());
        }
        for files in folders.into_values() {
            let ends: Vec<RecordBatch> = files.into_values().collect();
            order.require(&ends)?;
        }
        Ok(())
    }
}

impl Recounting for Recounters {
    fn elsewhere(self: Arc<Self>, progress: &Arc<AtomicU64>) -> Elsewhere {
        let rule = CountOnWorkers {
            workers: self,
            progress: Arc::clone(progress),
        };
        Elsewhere {
            rules: vec![Arc::new(rule)],
            counts_itself: Some(|plan| plan.is::<OperatorExec<CountedOnWorkers>>()),
        }
    }

    fn check_order<'a>(
        &'a self,
        session: &'a SessionContext,
        table: &'a str,
        roles: &'a Roles,
        written: &'a Written,
    ) -> BoxFuture<'a, Result<()>> {
        let checked = async move {
            match written.writers {
                Writers::Here => Ok(()),
                Writers::Others { .. } => self.order_checked(session, table, roles, written).await,
            }
        };
        checked.boxed()
    }
}

/// Returns the folder of a file and its number in the release: see `engine::write::shelf`.
fn place(path: &str) -> Option<(String, u64)> {
    let (folder, name) = path.rsplit_once('/')?;
    let number = name.strip_prefix("part-")?;
    let end = number.find(|c: char| !c.is_ascii_digit())?;
    Some((folder.to_string(), number[..end].parse().ok()?))
}

/// The optimizer rule that leaves partial aggregates over files to workers.
#[derive(Debug)]
struct CountOnWorkers {
    workers: Arc<Recounters>,
    progress: Arc<AtomicU64>,
}

impl PhysicalOptimizerRule for CountOnWorkers {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            let counted = plan.downcast_ref::<AggregateExec>().map(|own| self.counted(own));
            Ok(match counted.transpose()?.flatten() {
                Some(counted) => Transformed::new(counted, true, TreeNodeRecursion::Jump),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "count_on_workers"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl CountOnWorkers {
    /// Returns an aggregate for which workers compute partial counts, or `None` if workers cannot
    /// compute them.
    fn counted(&self, aggregate: &AggregateExec) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let is_of_any_rows = *aggregate.input_order_mode() == InputOrderMode::Linear
            && aggregate.limit_options().is_none()
            && aggregate.aggr_expr().iter().all(|own| own.order_bys().is_empty());
        match aggregate.mode() {
            AggregateMode::Partial if is_of_any_rows => self.partial(aggregate, aggregate.input()),
            // A plan with a single partition has no partial aggregate.
            AggregateMode::Single if is_of_any_rows => {
                let (groups, functions) = (aggregate.group_expr(), aggregate.aggr_expr());
                let (filters, schema) = (aggregate.filter_expr(), aggregate.input_schema());
                let made = |mode, groups, input| {
                    AggregateExec::try_new(
                        mode,
                        groups,
                        functions.to_vec(),
                        filters.to_vec(),
                        input,
                        Arc::clone(&schema),
                    )
                };
                let input = Arc::clone(aggregate.input());
                let partial = made(AggregateMode::Partial, groups.clone(), input)?;
                let Some(counted) = self.partial(&partial, partial.input())? else {
                    return Ok(None);
                };
                let last = made(AggregateMode::Final, groups.as_final(), counted)?;
                Ok((last.schema() == aggregate.schema()).then(|| Arc::new(last) as _))
            }
            _ => Ok(None),
        }
    }

    /// Returns a partial aggregate over the rows of `input`, computed by workers. Returns `None` if
    /// workers cannot read the rows. A union is aggregated part by part.
    fn partial(
        &self,
        aggregate: &AggregateExec,
        input: &Arc<dyn ExecutionPlan>,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let over = |input| {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            Arc::new(aggregate.clone()).replace_children(vec![input], options)
        };
        if let Some(slices) = slices(input, self.workers.wanted, self.workers.state.config()) {
            let schema = aggregate.schema();
            let answered = |slice| {
                let counted = over(Sent::over(slice))?;
                Ok(Arc::new(OperatorExec::looking(counted, TaskOutput)) as Arc<dyn ExecutionPlan>)
            };
            let rows = StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new());
            let counted = CountedOnWorkers {
                workers: Arc::clone(&self.workers),
                plans: slices.into_iter().map(answered).collect::<DfResult<Vec<_>>>()?,
                rows: rows
                    .ok()
                    .and_then(|rows| rows.num_rows.get_value().copied())
                    .unwrap_or(0) as u64,
                progress: Arc::clone(&self.progress),
            };
            return Ok(Some(Arc::new(OperatorExec::source(Arc::new(counted), schema))));
        }
        match (
            input.downcast_ref::<UnionExec>(),
            input.downcast_ref::<RepartitionExec>(),
        ) {
            (Some(union), _) => {
                let parts = union.children();
                let parts = parts.into_iter().map(|part| Ok((self.partial(aggregate, part)?, part)));
                let parts = parts.collect::<DfResult<Vec<_>>>()?;
                if parts.iter().all(|(counted, _)| counted.is_none()) {
                    return Ok(None);
                }
                let parts = parts.into_iter().map(|(counted, part)| match counted {
                    Some(counted) => Ok(counted),
                    None => over(Arc::clone(part)),
                });
                Ok(Some(UnionExec::try_new(parts.collect::<DfResult<Vec<_>>>()?)?))
            }
            (_, Some(dealt)) if matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_)) => {
                self.partial(aggregate, dealt.input())
            }
            _ => Ok(None),
        }
    }
}

/// A source whose rows are the partial aggregates of slices, computed by workers.
#[derive(Debug)]
struct CountedOnWorkers {
    workers: Arc<Recounters>,
    plans: Vec<Arc<dyn ExecutionPlan>>,
    /// The approximate number of rows of all slices.
    rows: u64,
    progress: Arc<AtomicU64>,
}

impl fmt::Display for CountedOnWorkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slices={}", self.plans.len())
    }
}

impl Operator for CountedOnWorkers {
    const NAME: &'static str = "CountedOnWorkersExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let (workers, plans, progress) = (
            Arc::clone(&self.workers),
            self.plans.clone(),
            Arc::clone(&self.progress),
        );
        let each = self.rows / plans.len().max(1) as u64;
        let gathered = stream::once(async move { Ok::<_, DataFusionError>(workers.gather(plans).await?) });
        let rows = gathered.map_ok(move |gathered| {
            let progress = Arc::clone(&progress);
            let batches = stream::try_unfold(gathered, |mut gathered| async move {
                let next = gathered.next().await?;
                Ok::<_, DataFusionError>(next.map(|batches| (batches, gathered)))
            });
            batches
                .inspect_ok(move |_| {
                    progress.fetch_add(each, Ordering::Relaxed);
                })
                .map_ok(|batches| stream::iter(batches.into_iter().map(Ok)))
                .try_flatten()
        });
        Ok(rows.try_flatten().boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn files_have_a_folder_and_a_number() {
        assert_eq!(place("a/zip=1/part-00012.parquet"), Some(("a/zip=1".into(), 12)));
        assert_eq!(place("run=7/part-123456-0ab1.parquet"), Some(("run=7".into(), 123_456)));
        assert_eq!(place("a/other.parquet"), None);
    }
}
