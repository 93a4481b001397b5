//! Chooses the cut with the minimum loss among the cuts that several algorithms find.

use super::Reserve;
use super::mend::mend;
use super::optimum::optimum;
use super::relax::relax;
use super::request::Request;
use super::tree::Cut;
use crate::base::error::Result;

/// A cut that satisfies every bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenCut {
    /// The cut.
    pub cut: Cut,
    /// True if it is known that the loss is at most the loss of every cut that satisfies the bounds
    /// and removes no items.
    pub optimal: bool,
}

/// Returns the cut with the minimum loss among the cuts that the algorithms find; `None` if they
/// find no cut.
pub fn choose(request: &Request, reserve: Reserve) -> Result<Option<ChosenCut>> {
    let Request {
        tree, sets, removable, ..
    } = *request;
    let bottom = tree.bottom();
    if sets.reduced(&bottom) > removable {
        return Ok(None);
    }
    let mut found: Vec<ChosenCut> = vec![];
    let best = optimum(request, reserve)?;
    // If `optimum` tried all cuts that remove no items, `mend` is needed only to find cuts that
    // remove items.
    let removals: &[u64] = match (&best, removable) {
        (Some(_), 0) => &[],
        (Some(_), _) => &[removable],
        (None, 0) => &[0],
        (None, _) => &[removable, 0],
    };
    let optimal = best.is_some();
    found.extend(best.flatten().map(|cut| ChosenCut { cut, optimal }));
    for removable in removals {
        let request = Request {
            removable: *removable,
            ..*request
        };
        if let Some(cut) = mend(&request, reserve)? {
            found.push(ChosenCut {
                cut: relax(&request, cut, reserve)?,
                optimal,
            });
        }
    }
    if sets.rows() <= removable {
        found.push(ChosenCut {
            cut: Cut(vec![None; tree.items()]),
            optimal,
        });
    }
    let weights = sets.weights(tree.items());
    // The first of several cuts with the minimum loss is chosen. If all cuts were tried, this is
    // the result of `optimum`.
    Ok(found.into_iter().min_by_key(|chosen| tree.loss(&chosen.cut, &weights)))
}
