//! Runs the checks of two releases side by side.

use super::pair::Pair;
use super::side::ComparedRelease;
use super::{alone, together};
use crate::base::error::Result;
use crate::data::folder::{Role, with_nulls};
use crate::release::audit::spelling::in_zones_of_source;
use crate::release::audit::tables::{WHOLE, session};
use crate::release::audit::verification::Verification;
use crate::release::observe::{Observer, Phase};
use crate::release::recount::bounds_as_text;
use std::collections::BTreeSet;

/// The table with the released rows of the first release.
const FIRST: &str = "first_release";
/// The table with the released rows of the second release.
const SECOND: &str = "second_release";

/// Runs all checks of two releases. If the statement gives the source (AGAINST), the promises are
/// recounted over the source.
pub(crate) async fn beside(pair: &Pair, observer: &dyn Observer) -> Result<Verification> {
    let mut found = Verification::default();
    let sides = [
        ComparedRelease::of(&pair.first, "first", FIRST)?,
        ComparedRelease::of(&pair.second, "second", SECOND)?,
    ];
    let mut views = vec![];
    let mut state = None;
    for side in &sides {
        let claim = &side.side.claim;
        let (of, rows) = with_nulls(claim.rows.clone(), &claim.folders)?.into_parts();
        views.push((side.released.name.as_str(), rows));
        state = Some(of);
    }
    let against = pair.against.as_ref();
    views.extend(against.map(|rows| (WHOLE, rows.logical_plan().clone())));
    let Some(state) = state else { return Ok(found) };
    let progress = observer.begin(Phase::Verify);
    let own = session(&state, &views, &progress)?;
    for side in &sides {
        let columns = &side.released.quasi_identifiers;
        if against.is_some() {
            in_zones_of_source(&own, &side.released.name, columns).await?;
        }
        bounds_as_text(&own, &side.released.name, columns).await?;
        let mut sealed = side.evidence.sealed();
        sealed.check = format!("{} (the {} release)", sealed.check, side.called);
        found.checks.push(sealed);
    }
    match against {
        Some(_) => together::check(&own, &sides, pair.entity.as_deref(), &mut found).await?,
        None => alone::check(&own, &sides, &mut found).await?,
    }
    found.unchecked.extend(unread(&sides));
    Ok(found)
}

/// Describes information that two releases reveal together and that is not checked.
fn unread(sides: &[ComparedRelease<'_>; 2]) -> Vec<String> {
    let mut unread = vec![];
    for side in sides {
        let items = side.manifest().columns_of(Role::ItemSet).into_iter();
        unread.extend(items.map(|column| {
            format!(
                "items of {column} of the {} release (lists are in no class)",
                side.called
            )
        }));
    }
    let values = |side: &ComparedRelease<'_>| -> BTreeSet<String> {
        let masked = side.manifest().masked().into_iter();
        masked.chain(side.evidence.unchanged()).collect()
    };
    let (first, second) = (values(&sides[0]), values(&sides[1]));
    let shared: Vec<&str> = first.intersection(&second).map(String::as_str).collect();
    if !shared.is_empty() {
        unread.push(format!(
            "rows of the two releases that match by the values of shared columns ({})",
            shared.join(", ")
        ));
    }
    unread
}
