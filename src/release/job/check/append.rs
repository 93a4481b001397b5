//! Checks requests with APPEND. Fails if a promise cannot be checked on the classes of several
//! batches, or if a batch does not match the release to which it would be added.
//!
//! A release to which batches are added makes two promises: each batch satisfies the models as a
//! separate table, and all batches together satisfy them. The second promise is checked on the
//! released labels alone, so models that need more information cannot be used.

use super::standing::{Unlike, compared, divided, model_of, unfollowed, unlike_columns, unlike_hierarchy};
use crate::base::error::{Error, Result};
use crate::data::folder::{Check, Manifest, SuppressedRows};
use crate::data::lake::Layout;
use crate::data::model::PrivacyModel;
use crate::method::hierarchy::{LabelForm, plain_type};
use crate::release::job::{Choice, Constraint, Format, Job, Roles, Target};
use arrow::datatypes::DataType;
use std::cmp::Ordering;

/// Fails if a request with APPEND cannot be carried out, whatever the data.
pub(super) fn check(job: &Job, target: &Target) -> Result<()> {
    if let Some(why) = refused(job, target) {
        return Err(Error::usage(format!("APPEND: {why}")));
    }
    let rows = job.input.source.rows.schema();
    for q in &job.roles.quasi_identifiers {
        let field = rows.field_with_unqualified_name(&q.column).ok();
        if field.is_some_and(|f| q.hierarchy.rule().reads_whole_column(f.data_type())) {
            return Err(Error::usage(format!(
                "APPEND: column {}: hierarchy {} takes the length of its labels from the longest value, which differs from \
                 batch to batch; create it with WIDTH",
                q.column,
                q.hierarchy.name()
            )));
        }
    }
    for constraint in &job.guarantees.constraints {
        if let Some(why) = not_counted(constraint.model.as_ref()) {
            return Err(Error::usage(format!(
                "APPEND: {} {why}; release all rows anew, with OVERWRITE",
                constraint.describe(&job.roles.quasi_identifiers)
            )));
        }
    }
    match &target.grows {
        Some(standing) => matches(job, target, standing).map_err(|e| e.context("APPEND")),
        None => Ok(()),
    }
}

/// Returns why a request with APPEND cannot add its rows to a release, and what to do instead;
/// `None` if nothing prevents it.
fn refused(job: &Job, target: &Target) -> Option<&'static str> {
    let has_forms = job.roles.quasi_identifiers.iter().any(|q| q.labels != LabelForm::Text);
    Some(match () {
        () if job.input.entity.is_some() => {
            "a person who comes again would have to be known again, and a release has nothing to know people by; leave ENTITY \
             out if nobody comes twice, or release all rows anew, with OVERWRITE"
        }
        () if matches!(job.goal.choice, Choice::Partition(_)) => {
            "local recoding has labels of its own in each batch, and their classes do not meet; use RECODING GLOBAL"
        }
        () if !job.roles.item_sets.is_empty() => {
            "what becomes of an item is chosen for all rows at once; release all rows anew, with OVERWRITE"
        }
        () if job.roles.sensitive.iter().any(|s| s.randomization.is_some()) => {
            "RANDOMIZED permutes values among all rows at once, and the existing rows are not permuted again; leave \
             it out, or release all rows anew, with OVERWRITE"
        }
        () if has_forms => {
            "labels in another form than TEXT are computed from the rows of a batch, and differ from batch to batch; use LABELS \
             TEXT"
        }
        () if job.guarantees.starred => {
            "rows that cannot be released wait, and are written nowhere; use SUPPRESSED ROWS DROPPED"
        }
        () if job.input.population.is_some() => {
            "each batch would be counted in the whole POPULATION; release all rows anew, with OVERWRITE"
        }
        () if target.format == Format::Csv => "the values of CSV files have no types to compare; use STORED AS PARQUET",
        () if job.output.report.is_some() => {
            "a report is about the rows of one run; leave REPORT TO out, and ask RISK OF and UTILITY OF about the release"
        }
        () if target.stored.as_ref().is_some_and(|s| s.layout == Layout::Plain) => {
            "readers that list a folder would see the files of a run before it is whole; use layout 'runs'"
        }
        () => return None,
    })
}

/// Returns why a model cannot be checked on the released labels of several batches; `None` if it
/// can.
fn not_counted(model: &dyn PrivacyModel) -> Option<&'static str> {
    let (reads, refused) = (model.reads(), model.about().kind().refused_in_batches);
    Some(match refused {
        Some(why) => why,
        None if reads.population => "counts in a population",
        None if reads.sizes => "estimates from all class sizes at once",
        None if reads.supersets => "compares a class with the rows around it, which each batch has others of",
        None if reads.labels => "reads what each label stands for, which may change with the values of a batch",
        None => return None,
    })
}

/// Fails if the batch does not match the existing release, for example in its columns, levels or
/// promises.
fn matches(job: &Job, target: &Target, standing: &Manifest) -> Result<()> {
    same_standards(job, standing)?;
    could_grow(job, standing)?;
    same_key(target, standing)?;
    same_columns(job, standing)?;
    same_partitions(target, standing)?;
    if let Some(unlike) = unlike_hierarchy(&job.roles, standing)? {
        return Err(Error::usage(format!(
            "{unlike}. Restore the hierarchy, or release all rows anew, with OVERWRITE"
        )));
    }
    same_levels(job, standing)?;
    for check in &standing.checks {
        if !is_of_codes(&job.roles, check)
            && !job
                .guarantees
                .constraints
                .iter()
                .any(|c| is_as_strong(&job.roles, c, check))
        {
            return Err(less(check));
        }
    }
    Ok(())
}

/// Refuses a batch that does not follow the same standards as the release.
fn same_standards(job: &Job, standing: &Manifest) -> Result<()> {
    if let Some(unlike) = unfollowed(&job.guarantees, standing) {
        return Err(Error::usage(format!("{unlike}; release all rows anew, with OVERWRITE")));
    }
    let is_asked = |name: &String| {
        job.guarantees
            .standards
            .iter()
            .any(|standard| standard.info.name == *name)
    };
    if let Some(lost) = standing.following.iter().find(|name| !is_asked(name)) {
        return Err(Error::usage(format!(
            "the existing release follows {lost}, and these rows would not; write FOLLOWING {lost}"
        )));
    }
    Ok(())
}

/// Refuses rows for a release that could not have been made with APPEND.
fn could_grow(job: &Job, standing: &Manifest) -> Result<()> {
    let other = |what: &str| {
        Err(Error::usage(format!(
            "the existing release {what}, and rows can be added only to a release that APPEND could have made; \
             release all rows anew, with OVERWRITE"
        )))
    };
    if standing.partition.is_some() {
        return other("uses local recoding");
    }
    if job.output.is_under_another_policy(standing.policy.as_ref()) {
        return other("was not made under this policy");
    }
    if standing.differential_privacy.is_some() {
        return other("is a random sample of its source");
    }
    if standing.entity.is_some() {
        return other("counts entities");
    }
    if standing.suppressed_rows == SuppressedRows::Starred {
        return other("has its suppressed rows as *");
    }
    if !standing.randomized.is_empty() || standing.personal.is_some() || !standing.computed_columns().is_empty() {
        return other("has values that were computed from all its rows");
    }
    if standing.output.iter().any(|file| file.name.ends_with(".csv")) {
        return other("is stored as CSV");
    }
    Ok(())
}

fn same_key(target: &Target, standing: &Manifest) -> Result<()> {
    match (&target.key, &standing.signature) {
        (None, Some(_)) => Err(Error::usage(
            "the existing release is signed, and would lose its signature; add OPTIONS (sign 'env:NAME') with its key",
        )),
        (Some(key), _) if !standing.is_signed_by(&key.public()) => Err(Error::usage(
            "the existing release is not signed with the key of option sign, which would also sign rows that were \
             released without it; release all rows anew, with OVERWRITE",
        )),
        _ => Ok(()),
    }
}

/// Returns the error for a batch that promises less than a check in the manifest of the release.
fn less(check: &Check) -> Error {
    let refused = model_of(check).and_then(|model| not_counted(model.as_ref()));
    let why = match refused {
        Some(why) => format!("which {why}; release all rows anew, with OVERWRITE"),
        None => "and a batch without this promise would break it; write this model, or a stricter one, in \
                 SATISFYING"
            .into(),
    };
    Error::usage(format!("the existing release promises {}, {why}", check.check))
}

/// Fails if the released columns differ from those of the existing release in name, order, role or
/// mask.
fn same_columns(job: &Job, standing: &Manifest) -> Result<()> {
    let unlike = match unlike_columns(job, standing) {
        None => return Ok(()),
        Some(Unlike::Missing(column) | Unlike::Role(column)) => {
            format!("the existing release has the column {column}, and these rows do not release it in the same role")
        }
        Some(Unlike::Mask(column, own, other)) => format!(
            "the existing release has the column {column} by {other}, and these rows release it by {own}; use the \
             same mask, or release all rows anew, with OVERWRITE"
        ),
        Some(Unlike::New(column)) => {
            format!("these rows release the column {column}, which the existing release does not have; leave it out")
        }
        Some(Unlike::Order(columns)) => format!(
            "the existing release has the columns in another order: {}; SELECT them in this order",
            columns.join(", ")
        ),
    };
    Err(Error::usage(unlike))
}

/// Fails if the request and the existing release have different PARTITIONED BY columns.
fn same_partitions(target: &Target, standing: &Manifest) -> Result<()> {
    if standing.partitioned_by == target.partitioned_by {
        return Ok(());
    }
    let asked = match &target.partitioned_by[..] {
        [] => "have no partitions".into(),
        columns => format!("are PARTITIONED BY ({})", columns.join(", ")),
    };
    let advice = match &standing.partitioned_by[..] {
        [] => "leave PARTITIONED BY out".into(),
        columns => format!("write PARTITIONED BY ({})", columns.join(", ")),
    };
    Err(Error::usage(format!(
        "the existing release {}, and these rows {asked}; {advice}, or release all rows anew, with OVERWRITE",
        divided(&standing.partitioned_by)
    )))
}

/// Fails if AT NODE gives a level below that of the existing release, or a level whose labels
/// differ in type from the labels of the release.
fn same_levels(job: &Job, standing: &Manifest) -> Result<()> {
    for (i, q) in job.roles.quasi_identifiers.iter().enumerate() {
        let Some(level) = standing.node.get(&q.column).copied() else {
            return Err(Error::data(format!(
                "the manifest of the release has no level of {}",
                q.column
            )));
        };
        let Choice::Node(levels) = &job.goal.choice else {
            continue;
        };
        if levels[i] < level {
            return Err(Error::usage(format!(
                "column {} would be at level {}, and the existing release has it at level {level}: a batch is \
                 released at its levels or at higher ones",
                q.column, levels[i]
            )));
        }
        if levels[i] > level && level == 0 && !rises_from_zero(job, &q.column) {
            return Err(Error::usage(format!(
                "column {} has its own type at level 0, as in the existing release, and texts at higher levels; leave \
                 it at level 0",
                q.column
            )));
        }
    }
    Ok(())
}

/// Returns true if the labels of a column have the same type at level 0 and above.
pub(crate) fn rises_from_zero(job: &Job, column: &str) -> bool {
    let mut quasi_identifiers = job.roles.quasi_identifiers.iter();
    if quasi_identifiers.any(|q| q.column == column && q.hierarchy.rule().codes().is_some()) {
        return true;
    }
    let field = job.input.source.rows.schema().field_with_unqualified_name(column);
    field.is_ok_and(|field| matches!(plain_type(field.data_type()), DataType::Utf8 | DataType::Utf8View))
}

/// Returns true if a check is about the codes of a hierarchy, such as TOP CODE, which are the same
/// for every batch.
fn is_of_codes(roles: &Roles, check: &Check) -> bool {
    let mut quasi_identifiers = roles.quasi_identifiers.iter();
    quasi_identifiers.any(|q| {
        let codes = q.hierarchy.rule().codes();
        codes.is_some_and(|codes| codes.check_of(&q.column) == check.check)
    })
}

/// Returns true if a constraint promises at least what `check` requires.
fn is_as_strong(roles: &Roles, constraint: &Constraint, check: &Check) -> bool {
    matches!(
        compared(roles, constraint, check),
        Some(Ordering::Equal | Ordering::Greater)
    )
}
