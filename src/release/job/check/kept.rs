//! Decides whether IF NOT EXISTS keeps the target. The target is kept only if it is a complete
//! release of the same kind as the statement would make.

use super::standing::{Unlike, compared, divided, unfollowed, unlike_columns, unlike_hierarchy};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::drift::OnDrift;
use crate::data::folder::{self, Manifest, SuppressedRows};
use crate::data::lake::Layout;
use crate::method::hierarchy::LabelForm;
use crate::release::job::{Choice, Constraint, Existing, Format, Job, Output, Target};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use std::cmp::Ordering;
use std::collections::BTreeMap;

impl Job {
    /// Returns true if the target has a release that IF NOT EXISTS keeps, and false if there is no
    /// release. Fails with `ErrorKind::TargetExists` if the target has anything else, and the error
    /// says what it is.
    pub(crate) fn keeps_target(&self) -> Result<bool> {
        let Some(target) = self
            .output
            .target
            .as_ref()
            .filter(|target| target.existing == Existing::Skip)
        else {
            return Ok(false);
        };
        let whole = match &target.stored {
            // The target was read when the request was bound.
            Some(stored) => stored.standing.as_ref().map(|standing| standing.manifest.clone()),
            None => folder::whole(&target.path)?,
        };
        let Some(manifest) = whole else {
            return Ok(false);
        };
        match other_kind(self, target, &manifest)? {
            None => Ok(true),
            Some(found) => Err(Error::new(
                ErrorKind::TargetExists,
                format!(
                    "{} has a release of another kind: {found}; IF NOT EXISTS keeps only what the statement would make. Choose \
                     another target, or ask for the same",
                    target.path.display()
                ),
            )),
        }
    }
}

/// Returns the difference as text if the statement has a policy and the release was not made under
/// it.
fn other_policy(output: &Output, manifest: &Manifest) -> Option<String> {
    let is_other = output.is_under_another_policy(manifest.policy.as_ref());
    is_other.then(|| "it was not made under this policy".to_string())
}

/// Returns the first difference between the release and what the statement would make, as text;
/// `None` if they are of the same kind.
fn other_kind(job: &Job, target: &Target, manifest: &Manifest) -> Result<Option<String>> {
    let unlike = other_policy(&job.output, manifest)
        .or_else(|| unfollowed(&job.guarantees, manifest))
        .or_else(|| other_files(target, manifest))
        .or_else(|| other_columns(job, manifest))
        .or_else(|| other_counts(job, manifest))
        .or_else(|| other_values(job, manifest));
    if unlike.is_some() {
        return Ok(unlike);
    }
    // Levels are compared only if the hierarchies are the same, because levels of another hierarchy
    // have another meaning.
    Ok(match unlike_hierarchy(&job.roles, manifest)? {
        Some(unlike) => Some(unlike),
        None => other_levels(job, manifest).or_else(|| missing(job, manifest)),
    })
}

/// Returns how the files of a release differ from those that the statement would write; `None` if
/// they do not.
fn other_files(target: &Target, manifest: &Manifest) -> Option<String> {
    let is_csv = manifest.output.iter().any(|file| file.name.ends_with(".csv"));
    match (is_csv, target.format == Format::Csv) {
        (true, false) => return Some("it is stored as CSV".into()),
        (false, true) => return Some("it is not stored as CSV".into()),
        _ => {}
    }
    if target
        .key
        .as_ref()
        .is_some_and(|key| !manifest.is_signed_by(&key.public()))
    {
        return Some("it is not signed with the key of option sign".into());
    }
    let layout = target.stored.as_ref().map(|stored| stored.layout);
    match (layout, &manifest.run) {
        (Some(Layout::Plain), Some(_)) => return Some("it has the layout 'runs'".into()),
        (Some(Layout::Runs), None) => return Some("it has the layout 'plain'".into()),
        _ => {}
    }
    let is_divided_alike = manifest.partitioned_by == target.partitioned_by;
    (!is_divided_alike).then(|| format!("it {}", divided(&manifest.partitioned_by)))
}

/// Returns how the columns of a release differ from those that the statement would release; `None`
/// if they do not.
fn other_columns(job: &Job, manifest: &Manifest) -> Option<String> {
    Some(match unlike_columns(job, manifest)? {
        Unlike::Missing(column) => format!("it has the column {column:?}, which the statement does not release"),
        Unlike::New(column) => format!("it does not have the column {column:?}"),
        Unlike::Role(column) => format!("column {column:?} has another role in it"),
        Unlike::Mask(column, own, other) => {
            format!("column {column:?} is released by {other} in it, and the statement says {own}")
        }
        Unlike::Order(columns) => format!("it has the columns in another order: {}", columns.join(", ")),
    })
}

/// Returns how a release counts differently from the statement: by another entity, or in another
/// population; `None` if there is no difference.
fn other_counts(job: &Job, manifest: &Manifest) -> Option<String> {
    let counted = |entity: &Option<String>| match entity {
        Some(column) => format!("ENTITY ({column})"),
        None => "rows".into(),
    };
    if job.input.entity != manifest.entity {
        return Some(format!(
            "it counts {}, and the statement counts {}",
            counted(&manifest.entity),
            counted(&job.input.entity)
        ));
    }
    // A release that counts in a population makes a stronger promise than a statement that does
    // not. So this is not a difference.
    let is_other =
        job.input.population.is_some() && population(&job.output.statement) != population(&manifest.statement);
    is_other.then(|| match population(&manifest.statement) {
        Some(_) => "it counts in another POPULATION".into(),
        None => "it counts in no POPULATION".into(),
    })
}

/// Returns the tokens of the POPULATION clause in a statement in canonical form; `None` if the
/// statement has no such clause.
fn population(statement: &str) -> Option<Vec<Token>> {
    let tokens = Tokenizer::new(&GenericDialect {}, statement).tokenize().ok()?;
    let (mut depth, mut words) = (0_i64, vec![]);
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(word) if depth == 0 && word.quote_style.is_none() => words.push((place, &word.value)),
            _ => {}
        }
    }
    let after = |word: &str, start: usize| {
        let mut found = words.iter().filter(|(place, _)| *place > start);
        let (place, _) = found.find(|(_, own)| own.eq_ignore_ascii_case(word))?;
        Some(*place)
    };
    // A table may have the name of a clause, so the search begins after the source.
    let start = after("POPULATION", after("QUASI", 0)?)?;
    let end = after("SATISFYING", start)?;
    Some(tokens.get(start + 1..end)?.to_vec())
}

/// Returns how the values of a release differ from those that the statement would release: in
/// suppressed rows, permuted columns, recoding, or the form of labels; `None` if they do not.
fn other_values(job: &Job, manifest: &Manifest) -> Option<String> {
    match (job.guarantees.starred, manifest.suppressed_rows) {
        (true, SuppressedRows::Dropped) => return Some("its suppressed rows are DROPPED".into()),
        (false, SuppressedRows::Starred) => return Some("its suppressed rows are STARRED".into()),
        _ => {}
    }
    let sensitive = job.roles.sensitive.iter();
    let asked: BTreeMap<&str, String> = sensitive
        .filter_map(|s| Some((s.column.as_str(), s.randomization.as_ref()?.to_string())))
        .collect();
    let has: BTreeMap<&str, String> = manifest
        .randomized
        .iter()
        .map(|r| (r.column.as_str(), r.within.clone()))
        .collect();
    let mut permuted = asked.keys().chain(has.keys());
    if let Some(column) = permuted.find(|column| asked.get(*column) != has.get(*column)) {
        let how = has.get(column).map_or("not RANDOMIZED", String::as_str);
        return Some(format!("column {column:?} is {how} in it"));
    }
    match (
        matches!(job.goal.choice, Choice::Partition(_)),
        manifest.partition.is_some(),
    ) {
        (true, false) => return Some("it is RECODING GLOBAL".into()),
        (false, true) => return Some("it is RECODING LOCAL".into()),
        _ => {}
    }
    let form = |column: &str| manifest.form_of(column).unwrap_or(LabelForm::Text);
    let mut columns = job.roles.quasi_identifiers.iter();
    let other = columns.find(|q| form(&q.column) != q.labels)?;
    Some(format!(
        "column {:?} has LABELS {} in it",
        other.column,
        form(&other.column)
    ))
}

/// Returns which levels of a release are outside the range that the statement allows; `None` if
/// there are none, or if local recoding has no levels to compare.
fn other_levels(job: &Job, manifest: &Manifest) -> Option<String> {
    let given = match &job.goal.choice {
        Choice::Node(levels) => Some(levels),
        Choice::Replay(replay) if replay.on_drift != OnDrift::Search => replay.levels.as_ref(),
        Choice::Replay(_) => return None,
        Choice::Search { .. } | Choice::Partition(_) => None,
    };
    let named = |(low, high): (u8, u8)| match low == high {
        true => format!("level {low}"),
        false => format!("levels {low} to {high}"),
    };
    job.roles.quasi_identifiers.iter().enumerate().find_map(|(i, q)| {
        let given = given.and_then(|levels| levels.get(i)).map(|level| (*level, *level));
        let (low, high) = given.or(q.levels)?;
        let has = manifest.levels_of(&q.column)?;
        let is_within = low <= has.0 && has.1 <= high;
        (!is_within).then(|| {
            format!(
                "column {:?} has {} in it, and the statement asks for {}",
                q.column,
                named(has),
                named((low, high))
            )
        })
    })
}

/// Returns the first promise of the statement that the release does not make; `None` if it makes
/// all of them.
fn missing(job: &Job, manifest: &Manifest) -> Option<String> {
    let is_held = |c: &&Constraint| {
        let own = c.describe(&job.roles.quasi_identifiers);
        let is_checked = |held: fn(&str, &str) -> bool| manifest.checks.iter().any(|check| held(&check.check, &own));
        if let Some(own) = c.sampling() {
            let spent = manifest.differential_privacy.as_ref();
            return spent.is_some_and(|spent| spent.epsilon <= own.epsilon && spent.delta <= own.delta)
                || is_checked(|check, own| check == own);
        }
        // The text of a check that is counted while rows are written ends with the description of
        // the model.
        if c.is_of_rows() {
            return is_checked(|check, own| check.ends_with(own));
        }
        let held = |check| matches!(compared(&job.roles, c, check), Some(Ordering::Equal | Ordering::Less));
        manifest.checks.iter().any(held)
    };
    match (
        job.guarantees.sampling().is_some(),
        manifest.differential_privacy.is_some(),
    ) {
        (true, false) => return Some("it is not differentially private".into()),
        (false, true) => return Some("it is differentially private".into()),
        _ => {}
    }
    let missing = job.guarantees.constraints.iter().find(|c| !is_held(c))?;
    Some(format!(
        "it does not promise {}",
        missing.describe(&job.roles.quasi_identifiers)
    ))
}
