//! The workers of a cluster ([`crate::release::cluster`]) as an executor.

mod buckets;
mod codec;
mod count;
mod cut;
mod ends;
mod recount;
mod second_scan;
mod session;
mod write;

use super::here::Here;
use super::interface::{Executor, ExecutorKind, Recounting, ToWrite, Wrote};
use crate::base::error::Result;
use crate::release::cluster::{Cluster, Trouble, TroubleReporter};
use crate::release::engine::write::Written;
use crate::release::observe::Observer;
use codec::CODEC;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::BoxFuture;
use recount::Recounters;
use session::Workers;
use std::sync::Arc;

/// The entry of the workers in the list of executors.
pub(super) const KIND: ExecutorKind = ExecutorKind {
    enable: |config| Cluster::enable(config, CODEC),
    observe: |config, observer| {
        TroubleReporter::enable(config, move |worker, trouble| {
            observer.worker_failed(worker, trouble == Trouble::Distrusted);
        });
    },
    of: |state| {
        let cluster = Cluster::of(state)?;
        let state = state.clone();
        Ok(cluster.map(|cluster| Box::new(Workers { cluster, state }) as Box<dyn Executor>))
    },
};

impl Executor for Workers {
    fn count<'a>(
        &'a self,
        plan: &'a Arc<dyn ExecutionPlan>,
        observer: Option<&'a dyn Observer>,
    ) -> BoxFuture<'a, Result<Option<Vec<SendableRecordBatchStream>>>> {
        self.counted(plan, observer).boxed()
    }

    fn write<'a>(&'a self, release: ToWrite<'a>) -> BoxFuture<'a, Result<Wrote>> {
        self.written(release).boxed()
    }

    fn recount<'a>(&'a self, written: &'a Written) -> BoxFuture<'a, Result<Arc<dyn Recounting>>> {
        let recounting = async {
            Ok(match Recounters::of(self, written).await? {
                Some(recounters) => Arc::new(recounters) as Arc<dyn Recounting>,
                None => Arc::new(Here),
            })
        };
        recounting.boxed()
    }
}
