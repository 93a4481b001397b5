//! Warns of a quasi-identifier that distinguishes no people.

use super::evidence::{Evidence, FEW_ROWS};
use super::warned::{Warning, WarningKind};
use super::words::rows;
use crate::base::quoting::ident;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let constant = evidence.constant.iter().filter(|_| evidence.rows >= FEW_ROWS);
    let warning = |name: &String| {
        let text = format!(
            "quasi-identifier {name} has the same value in all {}, so it distinguishes nobody; check the source, or \
             KEEP ({})",
            rows(evidence.rows),
            ident(name)
        );
        Warning::new(WarningKind::Constant, vec![name.clone()], text)
    };
    constant.map(warning).collect()
}
