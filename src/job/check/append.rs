//! Refusals of APPEND: requests whose promises are not those of classes that can be counted over
//! batches, and batches that are of another kind than the release that they are to be added to.
//!
//! A release that grows promises two things: each batch holds the models as a table of its own, and
//! so do all batches together. The second is counted on the released labels alone, so whatever
//! needs more than them is refused.

use crate::error::{Error, Result};
use crate::folder::{Check, Manifest, Role, SuppressedRows};
use crate::hierarchy::{LabelForm, plain_type};
use crate::job::{Choice, Constraint, Format, Identifier, Job, Target};
use crate::lake::Layout;
use crate::model::{Comparison, Relation};
use arrow::datatypes::DataType;
use std::cmp::Ordering;

/// Refuses a request with APPEND that cannot be met, whatever the data is.
pub(super) fn check(job: &Job, target: &Target) -> Result<()> {
    if let Some(why) = refused(job, target) {
        return Err(Error::usage(format!("APPEND: {why}")));
    }
    let rows = job.source.rows.schema();
    for q in &job.quasi_identifiers {
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
    for constraint in &job.constraints {
        if let Some(why) = not_counted(constraint) {
            return Err(Error::usage(format!(
                "APPEND: {} {why}; release all rows anew, with OVERWRITE",
                constraint.describe(&job.quasi_identifiers)
            )));
        }
    }
    match &target.grows {
        Some(standing) => matches(job, target, standing).map_err(|e| e.context("APPEND")),
        None => Ok(()),
    }
}

/// Returns why rows of such a request cannot be added to a release, and what to do.
fn refused(job: &Job, target: &Target) -> Option<&'static str> {
    let has_forms = job.quasi_identifiers.iter().any(|q| q.labels != LabelForm::Text);
    Some(match () {
        () if job.entity.is_some() => {
            "a person who comes again would have to be known again, and a release has nothing to know people by; leave ENTITY \
             out if nobody comes twice, or release all rows anew, with OVERWRITE"
        }
        () if matches!(job.choice, Choice::Partition(_)) => {
            "local recoding has labels of its own in each batch, and their classes do not meet; use RECODING GLOBAL"
        }
        () if !job.item_sets.is_empty() => {
            "what becomes of an item is chosen for all rows at once; release all rows anew, with OVERWRITE"
        }
        () if job.sensitive.iter().any(|s| s.randomization.is_some()) => {
            "RANDOMIZED permutes values among all rows at once, and those that stand are not permuted again; leave it out, or \
             release all rows anew, with OVERWRITE"
        }
        () if has_forms => {
            "labels in another form than TEXT are computed from the rows of a batch, and differ from batch to batch; use LABELS \
             TEXT"
        }
        () if job.starred => "rows that cannot be released wait, and are written nowhere; use SUPPRESSED ROWS DROPPED",
        () if job.population.is_some() => {
            "each batch would be counted in the whole POPULATION; release all rows anew, with OVERWRITE"
        }
        () if target.format == Format::Csv => "the values of CSV files have no types to compare; use STORED AS PARQUET",
        () if job.report.is_some() => {
            "a report is about the rows of one run; leave REPORT TO out, and ask RISK OF and UTILITY OF about the release"
        }
        () if target.stored.as_ref().is_some_and(|s| s.layout == Layout::Plain) => {
            "readers that list a folder would see the files of a run before it is whole; use layout 'runs'"
        }
        () => return None,
    })
}

/// Returns why a model cannot be counted over the released labels of several batches.
fn not_counted(constraint: &Constraint) -> Option<&'static str> {
    let (model, reads) = (&constraint.model, constraint.model.reads());
    Some(match () {
        () if model.sampling().is_some() => "is a promise about one draw, and another draw spends the budget again",
        () if model.item_bound().is_some() => "is about sets of items, which are generalized for all rows at once",
        () if model.limit_column().is_some() => "is a promise to each row, whose limit no release has",
        () if reads.population => "counts in a population",
        () if reads.sizes => "estimates from all class sizes at once",
        () if reads.supersets => "compares a class with the rows around it, which each batch has others of",
        () if reads.labels => "reads what each label stands for, which may change with the values of a batch",
        () => return None,
    })
}

/// Refuses a batch of another kind than the release.
fn matches(job: &Job, target: &Target, standing: &Manifest) -> Result<()> {
    let other = |what: &str| {
        Err(Error::usage(format!(
            "the release that stands {what}, and rows are only added to one that could have been made with APPEND"
        )))
    };
    if standing.partition.is_some() {
        return other("is local recoding");
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
    same_columns(job, standing)?;
    if standing.partitioned_by != target.partitioned_by {
        return Err(Error::usage(format!(
            "the release that stands is PARTITIONED BY ({}), and these rows by ({})",
            standing.partitioned_by.join(", "),
            target.partitioned_by.join(", ")
        )));
    }
    let sensitive = job
        .sensitive
        .iter()
        .filter_map(|s| Some((&s.column, s.hierarchy.as_ref()?)));
    let generalized = job.quasi_identifiers.iter().map(|q| (&q.column, &q.hierarchy));
    for (column, hierarchy) in generalized.chain(sensitive) {
        standing.require_hierarchy(column, hierarchy)?;
    }
    same_levels(job, standing)?;
    for check in &standing.checks {
        if !is_of_codes(job, check) && !job.constraints.iter().any(|c| is_as_strong(job, c, check)) {
            return Err(Error::usage(format!(
                "the release that stands holds {}, and a batch that need not would break that; ask for it, or for more, in \
                 SATISFYING",
                check.check
            )));
        }
    }
    Ok(())
}

/// Refuses other released columns, another order of them, or other roles.
fn same_columns(job: &Job, standing: &Manifest) -> Result<()> {
    let fields = job.source.rows.schema().fields().iter().map(|f| f.name());
    let released = fields.filter(|name| job.releases(name));
    let released: Vec<(&str, Role)> = released.map(|name| (name.as_str(), role(job, name))).collect();
    let known: Vec<(&str, Role)> = standing.columns.iter().map(|c| (c.name.as_str(), c.role)).collect();
    if let Some((column, _)) = known.iter().find(|column| !released.contains(column)) {
        return Err(Error::usage(format!(
            "the release that stands has the column {column}, and these rows do not release it in the same role"
        )));
    }
    if let Some((column, _)) = released.iter().find(|column| !known.contains(column)) {
        return Err(Error::usage(format!(
            "these rows release the column {column}, which the release that stands does not have; leave it out"
        )));
    }
    if released != known {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        return Err(Error::usage(format!(
            "the release that stands has the columns in another order: {}; SELECT them so",
            names.join(", ")
        )));
    }
    Ok(())
}

/// Returns the role of a released column as a manifest has it.
pub(super) fn role(job: &Job, column: &str) -> Role {
    let is_identifier = |i: &Identifier| i.column == column;
    match () {
        () if job.item_set(column).is_some() => Role::ItemSet,
        () if job.quasi_identifier(column).is_some() => Role::QuasiIdentifier,
        () if job.sensitive.iter().any(|s| s.column == column) => Role::Sensitive,
        () if job.identifiers.iter().any(is_identifier) => Role::Identifier,
        () if job.class_label.as_deref() == Some(column) => Role::Class,
        () => Role::Keep,
    }
}

/// Refuses levels below those of the release, and levels whose labels are of another type.
fn same_levels(job: &Job, standing: &Manifest) -> Result<()> {
    for (i, q) in job.quasi_identifiers.iter().enumerate() {
        let Some(level) = standing.node.get(&q.column).copied() else {
            return Err(Error::data(format!(
                "the manifest of the release has no level of {}",
                q.column
            )));
        };
        let Choice::Node(levels) = &job.choice else {
            continue;
        };
        if levels[i] < level {
            return Err(Error::usage(format!(
                "column {} would be at level {}, and the release that stands has it at level {level}: a batch is released at its \
                 levels or at higher ones",
                q.column, levels[i]
            )));
        }
        if levels[i] > level && level == 0 && !rises_from_zero(job, &q.column) {
            return Err(Error::usage(format!(
                "column {} has its own type at level 0, as the release that stands has it, and texts above it; leave it at level 0",
                q.column
            )));
        }
    }
    Ok(())
}

/// Returns true if the labels of a column above level 0 have the type of those at level 0.
pub(crate) fn rises_from_zero(job: &Job, column: &str) -> bool {
    let mut quasi_identifiers = job.quasi_identifiers.iter();
    if quasi_identifiers.any(|q| q.column == column && q.hierarchy.rule().codes().is_some()) {
        return true;
    }
    let field = job.source.rows.schema().field_with_unqualified_name(column);
    field.is_ok_and(|field| matches!(plain_type(field.data_type()), DataType::Utf8 | DataType::Utf8View))
}

/// Returns true if a check is that of the codes of a hierarchy, which are the same for every batch.
fn is_of_codes(job: &Job, check: &Check) -> bool {
    let mut quasi_identifiers = job.quasi_identifiers.iter();
    quasi_identifiers.any(|q| {
        let codes = q.hierarchy.rule().codes();
        codes.is_some_and(|codes| codes.check_of(&q.column) == check.check)
    })
}

/// Returns true if a model promises what `check` says, or more.
fn is_as_strong(job: &Job, constraint: &Constraint, check: &Check) -> bool {
    matches!(
        compared(job, constraint, check),
        Some(Ordering::Equal | Ordering::Greater)
    )
}

/// Compares what a model promises with what `check` says: `Greater` is more. Returns `None` unless
/// it is the same, or the same with another first argument, if that is the bound.
pub(super) fn compared(job: &Job, constraint: &Constraint, check: &Check) -> Option<Ordering> {
    let own = constraint.describe(&job.quasi_identifiers);
    if own == check.check {
        return Some(Ordering::Equal);
    }
    let (own, other) = (Parts::of(&own)?, Parts::of(&check.check)?);
    let relation = Relation {
        group: vec!["g".into()],
        attribute: Some("v".into()),
        ..Relation::default()
    };
    let audit = constraint.model.audit(&relation);
    let is_bound = own.bound == audit.required && other.bound == check.required;
    if own.rest != other.rest || !is_bound {
        return None;
    }
    let larger = own.bound.partial_cmp(&other.bound)?;
    Some(match audit.comparison {
        Comparison::AtLeast => larger,
        Comparison::AtMost | Comparison::Below => larger.reverse(),
    })
}

/// The words of a model, divided into its first argument and everything else.
struct Parts<'a> {
    bound: f64,
    rest: (&'a str, &'a str),
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (name, arguments) = text.split_once('(')?;
        let end = arguments.find([',', ')'])?;
        let (first, rest) = arguments.split_at(end);
        Some(Self {
            bound: match first.trim().split_once('/') {
                Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
                None => first.trim().parse().ok()?,
            },
            rest: (name, rest),
        })
    }
}
