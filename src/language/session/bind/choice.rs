//! Binds the clauses that determine the released node or partition: a recoding, a search, a given
//! node, or the node in a manifest.

use super::replay::{ComparedRequest, replay};
use super::roles::level;
use crate::base::catalogue::Call;
use crate::base::error::{Error, Result};
use crate::language::session::context::AnonContext;
use crate::language::session::registry::Registry;
use crate::language::sql::clause::{ChoiceClause, RecodingClause};
use crate::method::search;
use crate::release::job::{Choice, QuasiIdentifier};

/// Binds the recoding and its search, or the node that AT NODE or USING MANIFEST gives.
pub(super) async fn choice(context: &AnonContext, registry: &Registry, asked: &ComparedRequest<'_>) -> Result<Choice> {
    let (recoding, quasi_identifiers) = (asked.statement.policy.recoding, asked.quasi_identifiers);
    let local = recoding == Some(RecodingClause::Local);
    let levels = match &asked.statement.policy.choice {
        ChoiceClause::Default if local => return Choice::local(),
        ChoiceClause::Default => return registry.search(&Call::bare(search::DEFAULT)),
        ChoiceClause::Search(call) => return searched(registry, recoding, call),
        ChoiceClause::Node(_) | ChoiceClause::Manifest { .. } if local => {
            return Err(Error::usage(
                "AT NODE and USING MANIFEST give one level per column, which is RECODING GLOBAL; leave out RECODING \
                 LOCAL, or the levels",
            ));
        }
        ChoiceClause::Node(levels) => levels,
        ChoiceClause::Manifest { path, on_drift } => {
            let replay = replay(context, registry, (path, *on_drift), asked).await?;
            return Ok(Choice::Replay(Box::new(replay)));
        }
    };
    for (column, _) in levels {
        if !quasi_identifiers.iter().any(|q| q.column == *column) {
            return Err(Error::unknown(
                "quasi-identifier",
                column,
                quasi_identifiers.iter().map(|q| q.column.as_str()),
            ));
        }
    }
    let one = |q: &QuasiIdentifier| match levels
        .iter()
        .filter(|(column, _)| *column == q.column)
        .collect::<Vec<_>>()[..]
    {
        [(_, l)] => level(*l, &q.column),
        [] => Err(Error::usage(format!(
            "AT NODE gives no level for {}; name every quasi-identifier",
            q.column
        ))),
        _ => Err(Error::usage(format!("AT NODE gives {} two levels", q.column))),
    };
    Ok(Choice::Node(quasi_identifiers.iter().map(one).collect::<Result<_>>()?))
}

/// Binds the search that a statement names. Fails with a usage error if the search does not belong
/// to the given `recoding`.
fn searched(registry: &Registry, recoding: Option<RecodingClause>, call: &Call) -> Result<Choice> {
    let choice = registry.search(call)?;
    let is_local = matches!(choice, Choice::Partition(_));
    let Some(recoding) = recoding.filter(|r| (*r == RecodingClause::Local) != is_local) else {
        return Ok(choice);
    };
    let of = if is_local {
        RecodingClause::Local
    } else {
        RecodingClause::Global
    };
    let global: Vec<&str> = registry.searches.names().collect();
    let local: Vec<&str> = registry.partitioners.names().collect();
    Err(Error::usage(format!(
        "SEARCH USING {} needs RECODING {of}, and the statement has RECODING {recoding}; global: {}; local: {}",
        call.name,
        global.join(", "),
        local.join(", ")
    )))
}
