//! Computes the classes of a node as a DataFusion query: GROUP BY the generalized key over the base
//! frequency set, or over the set of a more specific node.
//!
//! By default, [`FrequencySet::roll_up`] computes the same result. It generalizes and groups packed
//! keys in one loop, which is faster than AggregateExec; planning alone would take ten times as
//! long as the grouping. With `SET anonsql.node_execution = 'datafusion'`, DataFusion plans and
//! executes the query, and spills to disk if memory is short.

use super::batch::{POPULATION, ROWS, detail_column, word_column};
use super::frequency_set::FrequencySet;
use super::generalize_word::GeneralizeWord;
use super::merge_counts::MergeCounts;
use crate::base::error::{Error, Result};
use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, LogicalPlanBuilder, ScalarUDF, col};
use datafusion::physical_plan::collect;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Returns the plan
/// `SELECT generalize_word(key_0) AS key_0, sum(rows) AS rows, ... FROM source GROUP BY 1`. The
/// plan computes the classes of `to` from the classes of `source`, whose node is more specific.
pub(super) fn logical_plan(source: &FrequencySet, key_schema: &Arc<KeySchema>, to: &Node) -> Result<LogicalPlan> {
    let batch = source.to_batch()?;
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    let words = (0..source.words()).map(|word| {
        let function = GeneralizeWord::new(Arc::clone(key_schema), source.node().clone(), to.clone(), word);
        let call = ScalarUDF::from(function).call(vec![col(word_column(word))]);
        call.alias(word_column(word))
    });
    let sums = [ROWS].into_iter().chain(source.populations().map(|_| POPULATION));
    let merge_counts = Arc::new(AggregateUDF::from(MergeCounts::new()));
    let details = (0..source.details().len()).map(detail_column);
    let details = details.map(|detail| merge_counts.call(vec![col(&detail)]).alias(detail));
    let aggregates: Vec<Expr> = sums.map(|name| sum(col(name)).alias(name)).chain(details).collect();
    let plan = LogicalPlanBuilder::scan("classes", provider_as_source(Arc::new(table)), None)?
        .aggregate(words, aggregates)?
        .build()?;
    Ok(plan)
}

/// Computes the classes of nodes with DataFusion, within the memory and the temporary files of a
/// task.
#[derive(Debug)]
pub(super) struct Planned {
    state: SessionState,
    context: Arc<TaskContext>,
    /// The runtime on which DataFusion reads spill files. It is needed when a node is requested on
    /// a thread outside this runtime.
    runtime: Option<Handle>,
}

impl Planned {
    /// Creates the executor for queries in `context`. The query for a node has one partition,
    /// because several nodes are computed in parallel.
    pub(super) fn new(context: &Arc<TaskContext>) -> Self {
        let config = context.session_config().clone().with_target_partitions(1);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(context.runtime_env());
        Self {
            state: state.build(),
            context: Arc::clone(context),
            runtime: Handle::try_current().ok(),
        }
    }

    /// Returns the frequency set of node `to`, computed from the set of a more specific node. The
    /// keys are in ascending order.
    pub(super) fn roll_up(
        &self,
        source: &FrequencySet,
        key_schema: &Arc<KeySchema>,
        to: &Node,
    ) -> Result<FrequencySet> {
        let plan = logical_plan(source, key_schema, to)?;
        let classes = async {
            let plan = self.state.create_physical_plan(&plan).await?;
            let schema = plan.schema();
            let batches = collect(plan, Arc::clone(&self.context)).await?;
            let classes = concat_batches(&schema, &batches)?;
            // The order in which DataFusion returns the classes depends on whether it spilled.
            let keys = classes.columns()[..source.words()].iter().map(|words| SortColumn {
                values: Arc::clone(words),
                options: None,
            });
            let order = lexsort_to_indices(&keys.collect::<Vec<_>>(), None)?;
            Ok::<_, DataFusionError>(take_record_batch(&classes, &order)?)
        };
        let _runtime = self.runtime.as_ref().map(Handle::enter);
        let batch = futures::executor::block_on(classes).map_err(Error::from_data)?;
        FrequencySet::from_batch(to, &batch, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::frequency::testing::{Groups, Row, table};
    use crate::data::frequency::{Base, testing::Table};
    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::memory_pool::FairSpillPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// By key: the number of rows, the number of rows in the population, and for each detail the
    /// codes with their counts.
    type Classes = BTreeMap<Vec<u64>, (u64, Option<u64>, Vec<Vec<(u32, u64)>>)>;

    fn classes(set: &FrequencySet) -> Classes {
        let class = |i: usize| {
            let details = set.details().iter().map(|d| d.class(i).collect()).collect();
            (set.counts()[i], set.populations().map(|p| p[i]), details)
        };
        let classes: Classes = (0..set.len()).map(|i| (set.key(i).to_vec(), class(i))).collect();
        assert_eq!(classes.len(), set.len(), "no class is there twice");
        classes
    }

    /// Checks that `roll_up` and DataFusion compute the same set for each of `nodes` from the base
    /// set.
    fn both_ways_agree(base: &Base, context: &Arc<TaskContext>, nodes: impl Iterator<Item = Node>) {
        let planned = Planned::new(context);
        let set = base.held().unwrap();
        for node in nodes {
            let fused = set.roll_up(&base.key_schema, &node).0;
            let found = planned.roll_up(set, &base.key_schema, &node).unwrap();
            assert_eq!(classes(&fused), classes(&found), "{node}");
            assert!(found.keys().chunks(found.words()).is_sorted(), "{node}");
            // Also checks the top node, computed from the set that was just returned.
            let tops = base.key_schema.lookups().iter().map(|l| l.top()).collect();
            let top = planned.roll_up(&found, &base.key_schema, &Node::new(tops)).unwrap();
            assert!(top.len() <= 1 && top.counts().iter().sum::<u64>() == set.counts().iter().sum::<u64>());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn datafusion_finds_the_classes_that_the_fused_form_finds(table in table()) {
            let context = Arc::new(TaskContext::default());
            both_ways_agree(&table.base(), &context, table.lattice().iter());
            both_ways_agree(&table.bare_base(), &context, table.lattice().iter());
        }
    }

    /// Returns a table with 2^`bits` distinct rows, whose keys have two words.
    fn wide(bits: i64) -> Table {
        let columns = 70;
        let row = |row: i64| Row::of((0..columns).map(|column| Some(row >> (column % bits) & 1)).collect());
        Table {
            rows: (0..1 << bits).map(row).collect(),
            groups: (0..columns).map(|_| Groups::flat(2)).collect(),
            tree: Groups::flat(2),
            population: vec![],
            per_entity: false,
            texts: false,
        }
    }

    #[test]
    fn keys_of_several_words_are_grouped_alike() {
        let base = wide(8).bare_base();
        assert_eq!(base.held().unwrap().words(), 2);
        let nodes = (0..70)
            .step_by(9)
            .map(|last| Node::new((0..70).map(|c| u8::from(c > last)).collect()));
        both_ways_agree(&base, &Arc::new(TaskContext::default()), nodes);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_node_that_memory_does_not_hold_is_spilled() {
        let base = tokio::task::spawn_blocking(|| wide(16).bare_base()).await.unwrap();
        let base = Arc::new(base);
        let context = |disk: DiskManagerMode| {
            let runtime = RuntimeEnvBuilder::new()
                .with_memory_pool(Arc::new(FairSpillPool::new(3_000_000)))
                .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(disk));
            Arc::new(TaskContext::default().with_runtime(runtime.build_arc().unwrap()))
        };
        let bottom = Node::new(vec![0; 70]);
        // If spill files are disabled, the classes do not fit in memory.
        let (held, without, node) = (Arc::clone(&base), context(DiskManagerMode::Disabled), bottom.clone());
        let refused = move || {
            Planned::new(&without)
                .roll_up(held.held().unwrap(), &held.key_schema, &node)
                .is_err()
        };
        assert!(tokio::task::spawn_blocking(refused).await.unwrap());
        let with_files = context(DiskManagerMode::OsTmpDirectory);
        let check = move || both_ways_agree(&base, &with_files, [bottom].into_iter());
        tokio::task::spawn_blocking(check).await.unwrap();
    }

    #[test]
    fn the_plan_is_a_group_by_of_the_generalized_key() {
        let base = wide(1).bare_base();
        let plan = logical_plan(base.held().unwrap(), &base.key_schema, &Node::new(vec![1; 70])).unwrap();
        let text = plan.display_indent().to_string();
        assert_eq!(
            text,
            "Aggregate: groupBy=[[generalize_word(classes.key_0) AS key_0, generalize_word(classes.key_1) AS key_1]], \
             aggr=[[sum(classes.rows) AS rows]]\n  TableScan: classes"
        );
    }
}
