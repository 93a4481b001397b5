//! Binds the levels for a batch that is added to a release.

use crate::base::error::{Error, Result};
use crate::release::job::{Choice, Job, rises_from_zero};

/// Restricts a search to the levels of the existing release and higher levels with labels of the
/// same type. Fails with a usage error if LEVELS excludes all of these levels.
pub(super) fn rise(job: &mut Job) -> Result<()> {
    let (Some(standing), Choice::Search { .. }) = (job.output.grows(), &job.goal.choice) else {
        return Ok(());
    };
    let mut levels = vec![];
    for q in &job.roles.quasi_identifiers {
        let height = q.hierarchy.height();
        let (low, high) = q.levels.unwrap_or((0, height));
        // A column without a level in the existing release is rejected by a later check of the
        // request.
        let own = standing.node.get(&q.column).copied().unwrap_or(low);
        let high = match own == 0 && !rises_from_zero(job, &q.column) {
            true => high.min(own),
            false => high,
        };
        if own.max(low) > high {
            return Err(Error::usage(format!(
                "column {}: the existing release has it at level {own}, and a batch needs that level or a higher one \
                 of the same type; LEVELS excludes all of them",
                q.column
            )));
        }
        levels.push((own.max(low), high));
    }
    for (q, levels) in job.roles.quasi_identifiers.iter_mut().zip(levels) {
        q.levels = Some(levels);
    }
    Ok(())
}
