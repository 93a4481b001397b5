//! Between the decision and the second scan: chooses the recoding of the items in columns of lists.
//!
//! The classes do not contain these columns, so the classes are decided first. A separate scan then
//! counts the sets of items in the released rows. For these rows, a cut of each item hierarchy is
//! chosen. The cut gives each item its label. Suppressed rows are not counted, because they do not
//! protect any released row. Suppressed rows that are written have no list.

mod count;
mod cut;

use super::decide::Decision;
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::method::search::Oracle;
use crate::release::job::Job;
use crate::release::observe::{Observer, Phase};
use std::sync::Arc;

/// Returns the decision with the recoding of every column of sets of items.
pub(super) async fn with_items(job: &Arc<Job>, decision: Decision, observer: &Arc<dyn Observer>) -> Result<Decision> {
    if job.roles.item_sets.is_empty() {
        return Ok(decision);
    }
    observer.begin(Phase::Measure);
    let counted = count::count(job, &decision).await?;
    let removable = decision.evaluator.suppression_limit();
    let own = Arc::clone(job);
    let cuts = move || {
        let sets = own.roles.item_sets.iter().zip(counted);
        sets.map(|(set, counted)| cut::cut(&own, set, counted, removable))
            .collect()
    };
    Ok(Decision {
        items: blocking("generalizing items", cuts).await?,
        ..decision
    })
}
