//! Checks requests for differential privacy. Fails if a request would reveal rows that are not
//! drawn, or classes that are too small.

use super::Purpose;
use crate::base::error::{Error, Result};
use crate::data::model::{SampleKey, Sampling};
use crate::method::hierarchy::{Hierarchy, LabelForm, OnNull, OnUnmapped};
use crate::method::secret::Secret;
use crate::release::job::{Constraint, Job, QuasiIdentifier, SuppressionLimit};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The kinds of hierarchies in which the author of the statement gives the values and labels.
/// Hierarchies that consist only of a rule are also allowed.
const GIVEN: &[&str] = &["values", "file"];

/// Fails if a differentially private release would reveal more than its classes, or if the class of
/// a row would depend on other rows of the source.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let sample = job.guarantees.constraints.iter().find_map(|c| Some((c, c.sampling()?)));
    let Some((constraint, sampling)) = sample else {
        return Ok(());
    };
    let name = constraint.call.name.as_str();
    let found = match purpose {
        Purpose::Release => clauses(job, constraint, sampling)
            .or_else(|| levels(job))
            .or_else(|| job.roles.quasi_identifiers.iter().find_map(|q| column(job, q))),
        _ => Some(
            "this statement counts the source itself, and nothing protects what it prints; write it without this model, for \
             your own eyes, or ANONYMIZE"
                .into(),
        ),
    };
    let found = match found {
        None => match job.input.source.depends {
            Some(why) => Some(why.into()),
            None => rows(job.input.source.rows.logical_plan())?,
        },
        found => found,
    };
    found.map_or(Ok(()), |why| Err(Error::usage(format!("{name}: {why}"))))
}

fn clauses(job: &Job, constraint: &Constraint, sampling: &Sampling) -> Option<String> {
    let other = job
        .guarantees
        .constraints
        .iter()
        .find(|c| !std::ptr::eq(*c, constraint));
    if let Some(other) = other {
        return Some(format!(
            "it must be the only model in SATISFYING, because its release is a sample; leave {} out, or ANONYMIZE the \
             release again",
            other.call
        ));
    }
    if matches!(&sampling.key, SampleKey::Secret(place) if Secret::at(place).is_none()) {
        return Some("write secret as 'env:NAME' or 'file:PATH'; a statement never contains the secret itself".into());
    }
    if !constraint.is_of_classes() {
        return Some("it is about whole rows; leave out what follows ON".into());
    }
    let masked = job.roles.masks.iter().map(|of| &of.column);
    let others = job
        .roles
        .sensitive
        .iter()
        .map(|s| &s.column)
        .chain(&job.roles.class_label)
        .chain(&job.roles.keep)
        .filter(|column| job.roles.mask(column).is_none());
    let raw: Vec<&str> = masked.chain(others).map(String::as_str).collect();
    if !raw.is_empty() {
        return Some(format!(
            "every released column is a quasi-identifier, and {} would leave as it is; name it in QUASI IDENTIFIERS with a \
             level, or in IDENTIFIERS without a mask, which drops it",
            raw.join(", ")
        ));
    }
    if let Some(entity) = &job.input.entity {
        return Some(format!(
            "it hides one row; make a table with one row for each {entity}, and leave ENTITY out"
        ));
    }
    if job.guarantees.suppression != SuppressionLimit::NONE || job.guarantees.starred {
        return Some(
            "it suppresses the rows of every class that is too small, and neither how many nor whether they were too many may \
             be seen; leave SUPPRESSING and SUPPRESSED ROWS out"
                .into(),
        );
    }
    job.output.report
        .is_some()
        .then(|| "a report compares the release with its source, whose figures are not protected; leave REPORT TO out, and write RISK OF the release".into())
}

fn levels(job: &Job) -> Option<String> {
    job.given_levels().is_none().then(|| {
        let node = job.roles.quasi_identifiers.iter().map(|q| format!("{} 1", q.column));
        format!(
            "a level that is found by looking at the source tells of its rows; give every quasi-identifier its level, as in \
             AT NODE ({})",
            node.collect::<Vec<_>>().join(", ")
        )
    })
}

fn column(job: &Job, q: &QuasiIdentifier) -> Option<String> {
    let (column, hierarchy) = (&q.column, q.hierarchy.as_ref());
    if q.labels != LabelForm::Text {
        return Some(format!(
            "column {column}: LABELS {} is computed from the values of the rows; leave LABELS out",
            q.labels
        ));
    }
    if q.weight != 1.0 {
        return Some(format!(
            "column {column}: WEIGHT has no effect on given levels; leave it out"
        ));
    }
    let rows = job.input.source.rows.schema();
    let field = rows.field_with_unqualified_name(column).ok();
    if let Some(field) = field.filter(|f| f.data_type().is_floating()) {
        return Some(format!(
            "column {column}: a {} can be NaN, which would end the statement and so tell that a row has it; write TRY_CAST to \
             BIGINT or DECIMAL in a query",
            field.data_type()
        ));
    }
    let of_column = field
        .filter(|f| hierarchy.rule().reads_whole_column(f.data_type()))
        .map(|_| {
            "takes the length of its labels from the longest value, which would tell that a row has it; create it with WIDTH"
        });
    of_column
        .or_else(|| of_hierarchy(hierarchy))
        .or_else(|| of_ground(job, q))
        .map(|why| format!("column {column}: hierarchy {} {why}", hierarchy.name()))
}

/// Returns the problem if a hierarchy with ON UNMAPPED TOP is used at level 0; `None` otherwise. An
/// unmapped value becomes `*` only at level 1 and above. Whether there is such a value is not known
/// before the rows are read.
fn of_ground(job: &Job, q: &QuasiIdentifier) -> Option<&'static str> {
    let place = job
        .roles
        .quasi_identifiers
        .iter()
        .position(|other| other.column == q.column)?;
    let level = *job.given_levels()?.get(place)?;
    let is_refused = level == 0 && q.hierarchy.on_unmapped() == OnUnmapped::Top && !q.hierarchy.only_suppresses();
    is_refused.then_some(
        "ends the statement at level 0 if it does not know a value, which would tell that a row has it; give the column \
         level 1 or a higher one, or make it with ON UNMAPPED SUPPRESS",
    )
}

fn of_hierarchy(hierarchy: &Hierarchy) -> Option<&'static str> {
    if !hierarchy.rule().is_free_of_data() && !GIVEN.contains(&hierarchy.kind()) {
        return Some(
            "was computed from a table, and may tell of its rows; make it with INTERVALS, PREFIX, TRUNCATE, VALUES or FROM a file, \
             of what is known without the source",
        );
    }
    if hierarchy.on_unmapped() == OnUnmapped::Error && !hierarchy.only_suppresses() {
        return Some(
            "ends the statement at a value that it does not know, which would tell that a row has it; make it with ON UNMAPPED \
             SUPPRESS or ON UNMAPPED TOP",
        );
    }
    (hierarchy.on_null() == OnNull::Error).then_some(
        "ends the statement at a NULL, which would tell that a row has it; make it with NULLS AS VALUE or NULLS AS TOP",
    )
}

/// Returns the reason why a row of the source may derive from several rows of a table; `None` if
/// each row derives from one row.
fn rows(plan: &LogicalPlan) -> Result<Option<String>> {
    let mut together = false;
    plan.apply_with_subqueries(|node| {
        let (mut one, view) = match node {
            LogicalPlan::TableScan(scan) => (scan.fetch.is_none(), scan.source.get_logical_plan()),
            LogicalPlan::Sort(sort) => (sort.fetch.is_none(), None),
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Values(_)
            | LogicalPlan::EmptyRelation(_) => (true, None),
            _ => (false, None),
        };
        if let Some(view) = view {
            one &= rows(&view)?.is_none();
        }
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                one &= !matches!(expr, Expr::Unnest(_) | Expr::WindowFunction(_));
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        together |= !one;
        Ok(match together {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(together.then(|| {
        "it hides one row of the source, and this query joins, unites, groups, unnests, ranks or cuts off rows, or has a query within it, so that a person's row \
         may be in several or change others; use expressions of single rows and WHERE alone, or make a table with one row a \
         person"
            .into()
    }))
}
