//! The promises of two releases, as promises about classes together.

use super::side::{ComparedRelease, SourceLabels};
use crate::base::error::Result;
use crate::release::job::{Constraint, Scope};
use crate::release::recount::Promise;
use std::collections::BTreeSet;

/// The column that is true for rows in the first release.
pub(super) const IN_FIRST: &str = "in_first";
/// The column that is true for rows in the second release.
pub(super) const IN_SECOND: &str = "in_second";
/// The table of the rows in the first release.
pub(super) const OF_FIRST: &str = "of_first";
/// The table of the rows in the second release.
pub(super) const OF_SECOND: &str = "of_second";
/// The table of the rows in at least one of the two releases.
pub(super) const OF_BOTH: &str = "of_both";

/// A promise of one or both releases that is recounted on the classes together.
pub(super) struct JointPromise<'a> {
    pub(super) promise: Promise<'a>,
    pub(super) constraint: &'a Constraint,
    /// The table of the rows that the promise is about.
    pub(super) table: &'static str,
    /// The reason why the promise cannot be counted.
    pub(super) gap: Option<&'static str>,
}

/// Returns the promises of both releases. A promise that both releases make is returned once.
/// `sensitive` returns the name of the column that contains the values of an attribute.
pub(super) fn together<'a>(
    sides: &'a [ComparedRelease<'a>; 2],
    labels: &[SourceLabels; 2],
    sensitive: impl Fn(&str) -> String,
) -> Result<Vec<JointPromise<'a>>> {
    let mut found: Vec<(JointPromise<'a>, String)> = vec![];
    for (side, table) in sides.iter().zip([OF_FIRST, OF_SECOND]) {
        for constraint in &side.side.claim.constraints {
            let text = constraint.describe(&side.side.quasi_identifiers);
            let groupings = groupings(side, labels, constraint)?;
            let same = found
                .iter_mut()
                .find(|(known, told)| *told == text && known.promise.groupings == groupings);
            if let Some((known, _)) = same {
                known.promise.name = format!("{text} of both releases, together");
                known.table = OF_BOTH;
                known.gap = known.gap.or(gap(side, constraint));
                continue;
            }
            let promise = Promise {
                name: format!("{text} of the {} release, together", side.called),
                model: constraint.model.as_ref(),
                groupings,
                attribute: constraint.attribute.as_deref().map(&sensitive),
                hierarchy: None,
            };
            let gap = gap(side, constraint);
            let one = JointPromise {
                promise,
                constraint,
                table,
                gap,
            };
            found.push((one, text));
        }
    }
    Ok(found.into_iter().map(|(promise, _)| promise).collect())
}

/// Returns the columns by which a promise groups persons: the labels of both releases in the
/// columns of the promise, and the columns that show which release contains the person.
fn groupings(
    side: &ComparedRelease<'_>,
    labels: &[SourceLabels; 2],
    constraint: &Constraint,
) -> Result<Vec<Vec<String>>> {
    let quasi_identifiers = &side.side.quasi_identifiers;
    let subsets = constraint.scope.subsets(quasi_identifiers.len())?;
    let group = |subset: Vec<usize>| {
        let names: BTreeSet<&str> = subset.iter().map(|i| quasi_identifiers[*i].column.as_str()).collect();
        let is_of = |name: &str| constraint.scope == Scope::All || names.contains(name);
        let columns = labels.iter().zip(['a', 'b']).flat_map(|(labels, prefix)| {
            let numbered = labels.columns.iter().enumerate();
            numbered.filter_map(move |(i, (name, _))| Some((i, name)).map(|(i, name)| (prefix, i, name.as_str())))
        });
        let columns = columns.filter(|(_, _, name)| is_of(name));
        let columns = columns.map(|(prefix, i, _)| label(prefix, i));
        columns.chain([IN_FIRST.into(), IN_SECOND.into()]).collect()
    };
    Ok(subsets.into_iter().map(group).collect())
}

/// Returns the name of the column that contains the label with index `number`.
pub(super) fn label(prefix: char, number: usize) -> String {
    format!("{prefix}{number}")
}

/// Returns the reason why a promise cannot be counted on classes together, if there is one.
fn gap(side: &ComparedRelease<'_>, constraint: &Constraint) -> Option<&'static str> {
    let reads = constraint.model.reads();
    let is_permuted = |attribute: &String| !side.evidence.unchanged().contains(attribute);
    if let Some(why) = constraint.kind().refused_together {
        return Some(why);
    }
    if reads.population || reads.hierarchy || reads.labels || reads.supersets {
        return Some("it reads more than classes and values");
    }
    let permuted = constraint.attribute.as_ref().filter(|_| reads.attribute);
    permuted
        .filter(|attribute| is_permuted(attribute))
        .map(|_| "its values were permuted, and the source has them as they were")
}
