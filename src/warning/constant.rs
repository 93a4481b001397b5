//! A quasi-identifier that distinguishes nobody.

use super::evidence::{Evidence, FEW_ROWS};
use super::warned::{Warning, WarningKind};
use super::words::rows;
use crate::quoting::ident;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let constant = evidence.constant.iter().filter(|_| evidence.rows >= FEW_ROWS);
    let warning = |name: &String| {
        let text = format!(
            "quasi-identifier {name} has the same value in all {}, so it tells nobody apart; check the source, or KEEP ({})",
            rows(evidence.rows),
            ident(name)
        );
        Warning::new(WarningKind::Constant, vec![name.clone()], text)
    };
    constant.map(warning).collect()
}
