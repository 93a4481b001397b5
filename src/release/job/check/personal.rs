//! Checks requests with personal limits.

use crate::base::error::{Error, Result};
use crate::data::model::About;
use crate::release::job::{Constraint, Guarantees, Job};

impl Guarantees {
    /// Returns the constraint with personal limits, and the column that contains the limits.
    pub fn personal(&self) -> Option<(&Constraint, &str)> {
        self.constraints.iter().find_map(|c| Some((c, limit_of(c)?)))
    }
}

/// Returns the column that contains the personal limits of a constraint; `None` for another kind of
/// promise.
fn limit_of(constraint: &Constraint) -> Option<&str> {
    match constraint.model.about() {
        About::Rows { limit } => Some(limit),
        _ => None,
    }
}

/// Fails if the request has personal limits together with something that cannot be combined with
/// them, or if the limits themselves are invalid.
pub(super) fn check(job: &Job) -> Result<()> {
    let Some((constraint, limit)) = job.guarantees.personal() else {
        return Ok(());
    };
    let name = constraint.describe(&job.roles.quasi_identifiers);
    let refuse = |text: &str| Err(Error::usage(format!("{name} {text}")));
    let field = job.input.source.rows.schema().field_with_unqualified_name(limit)?;
    if !field.data_type().is_numeric() {
        return refuse(&format!("reads limits from {limit}, which is not a numeric column"));
    }
    if job.guarantees.constraints.iter().filter_map(limit_of).count() > 1 {
        return refuse("is promised for one sensitive attribute at a time; leave out the other personal_privacy");
    }
    let attribute = job
        .roles
        .sensitive
        .iter()
        .find(|s| Some(&s.column) == constraint.attribute.as_ref());
    if attribute.is_none_or(|a| a.hierarchy.is_none()) {
        return refuse("generalizes the sensitive attribute: give its hierarchy, SENSITIVE (column USING hierarchy)");
    }
    if !constraint.is_of_classes() {
        return refuse("is about the rows of whole classes; leave out the list of columns");
    }
    if job.roles.sensitive.iter().any(|s| s.randomization.is_some()) {
        return refuse("cannot be combined with RANDOMIZED; use one of the two");
    }
    if job.input.entity.is_some() {
        return refuse("is a promise to each row, not to each entity; leave out ENTITY");
    }
    if job.guarantees.starred {
        return refuse("suppresses rows when they are written, and they are then DROPPED; leave out STARRED");
    }
    let partitioned_by = job.output.target.iter().flat_map(|t| &t.partitioned_by);
    if let Some(column) = partitioned_by
        .into_iter()
        .find(|c| job.roles.quasi_identifier(c).is_none())
    {
        return refuse(&format!(
            "looks at the rows of a class together, which PARTITIONED BY {column} would tear apart; partition by \
             quasi-identifiers"
        ));
    }
    let other = job.guarantees.constraints.iter().find(|c| {
        let reads = c.model.reads();
        limit_of(c).is_none() && (c.is_of_rows() || reads.attribute || reads.population || !c.is_of_classes())
    });
    match other {
        Some(other) => refuse(&format!(
            "generalizes and suppresses after the classes are chosen, which {} may not survive; it stands beside models of \
             class size, such as k_anonymity",
            other.describe(&job.roles.quasi_identifiers)
        )),
        None => Ok(()),
    }
}
