//! The executor that declines everything, so that each stage runs on this machine.

use super::interface::{Executor, Recounting, ToWrite, Wrote};
use crate::base::error::{Error, Result};
use crate::release::engine::write::{Writers, Written};
use crate::release::job::Roles;
use crate::release::observe::Observer;
use crate::release::recount::Elsewhere;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The machine that runs the session.
pub(super) struct Here;

impl Executor for Here {
    fn count<'a>(
        &'a self,
        _: &'a Arc<dyn ExecutionPlan>,
        _: Option<&'a dyn Observer>,
    ) -> BoxFuture<'a, Result<Option<Vec<SendableRecordBatchStream>>>> {
        ready(Ok(None)).boxed()
    }

    fn write<'a>(&'a self, release: ToWrite<'a>) -> BoxFuture<'a, Result<Wrote>> {
        ready(Ok(Wrote::Declined(release.spool))).boxed()
    }

    fn recount<'a>(&'a self, _: &'a Written) -> BoxFuture<'a, Result<Arc<dyn Recounting>>> {
        ready(Ok(Arc::new(Self) as Arc<dyn Recounting>)).boxed()
    }
}

impl Recounting for Here {
    fn elsewhere(self: Arc<Self>, _: &Arc<AtomicU64>) -> Elsewhere {
        Elsewhere::default()
    }

    /// Accepts the order of rows that this machine wrote, because the write has checked it. Fails
    /// if other machines sorted the rows, because their executor must check the order.
    fn check_order<'a>(
        &'a self,
        _: &'a SessionContext,
        _: &'a str,
        _: &'a Roles,
        written: &'a Written,
    ) -> BoxFuture<'a, Result<()>> {
        let checked = match written.writers {
            Writers::Here => Ok(()),
            Writers::Others { .. } => Err(Error::internal("an order of rows that nobody has proved")),
        };
        ready(checked).boxed()
    }
}
