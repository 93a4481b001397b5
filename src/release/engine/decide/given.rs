//! The node that the statement gives with AT NODE.

use super::decision::{Decision, Proof, describe};
use super::evaluator::Evaluator;
use super::infeasible::NearestMiss;
use crate::base::error::{Error, Result};
use crate::method::lattice::Node;
use crate::method::search::Oracle;
use crate::release::job::Roles;
use std::sync::Arc;

/// Returns the node with these levels. Fails with `ErrorKind::Usage` if the node is not in the
/// lattice.
pub fn of_lattice(roles: &Roles, evaluator: &Evaluator, levels: &[u8]) -> Result<Node> {
    let node = Node::new(levels.to_vec());
    match evaluator.lattice().contains(&node) {
        true => Ok(node),
        false => Err(Error::usage(format!(
            "the node {} is not in the lattice from {} to {}",
            describe(roles, &node),
            describe(roles, evaluator.lattice().bottom()),
            describe(roles, evaluator.lattice().top())
        ))),
    }
}

/// Checks the node that the statement gives. Fails with `ErrorKind::Infeasible` if the node does
/// not satisfy the models.
pub(super) fn given(roles: &Roles, evaluator: &Arc<Evaluator>, levels: &[u8]) -> Result<Decision> {
    let node = of_lattice(roles, evaluator, levels)?;
    let Some((classes, verdict)) = evaluator.judge_if_demanded(&node)?.counted() else {
        return Err(Error::infeasible(format!(
            "the node {} does not satisfy the models: more than {} rows, the suppression limit, would have to be suppressed",
            describe(roles, &node),
            evaluator.suppression_limit()
        )));
    };
    if !verdict.anonymous {
        let nearest = NearestMiss::new(roles, evaluator, Some(&node), verdict.suppressed);
        let node = describe(roles, &node);
        let (suppressed, limit) = (verdict.suppressed, evaluator.suppression_limit());
        let error = Error::infeasible(match suppressed > limit {
            true => format!(
                "the node {node} does not satisfy the models: {suppressed} rows would have to be suppressed, more than \
                 the limit of {limit}"
            ),
            false => {
                format!("the node {node} does not satisfy the models: each class does, but not the table as a whole")
            }
        });
        return Err(error.with_detail(nearest));
    }
    Ok(Decision {
        nodes: 1,
        ..Decision::chosen(evaluator, (classes, verdict), Proof::Given)
    })
}
