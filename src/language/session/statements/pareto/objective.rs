//! Binds OPTIMIZING to objectives: looks up properties and metrics, and checks their arguments.

use crate::base::catalogue::Arguments;
use crate::base::error::{Error, Result};
use crate::data::objective::{Entry, OBJECTIVES};
use crate::language::session::bind::not_sensitive;
use crate::language::session::registry::Registry;
use crate::language::sql::clause::{ObjectiveClause, SensitiveClause};
use crate::release::engine::{Objective, Optimized};

/// Returns the property that an objective names; `None` if the objective names a metric, or the
/// name is unknown.
pub(super) fn property(objective: &ObjectiveClause) -> Option<&'static Entry> {
    let name = &objective.property.name;
    OBJECTIVES.iter().find(|e| e.info.name.eq_ignore_ascii_case(name))
}

/// Returns true if the values of an objective are whole numbers.
pub(super) fn is_whole(objective: &ObjectiveClause) -> bool {
    property(objective).is_some_and(|e| e.is_whole)
}

fn is_of_attribute(objective: &ObjectiveClause) -> bool {
    property(objective).is_some_and(|e| e.of_attribute)
}

/// Returns the column name of an objective in the result, such as `k` or `l_diagnosis`.
pub(super) fn column_of(objective: &ObjectiveClause) -> String {
    let name = objective.property.name.to_ascii_lowercase();
    match &objective.on {
        Some(attribute) => format!("{name}_{attribute}"),
        None => name,
    }
}

/// If an objective is about a sensitive attribute and the statement leaves out ON, sets ON to the
/// only sensitive column, so that column names and models can contain it. Fails with a usage error
/// unless there is exactly one sensitive column.
pub(super) fn complete(objective: &mut ObjectiveClause, sensitive: &[SensitiveClause]) -> Result<()> {
    if !is_of_attribute(objective) || objective.on.is_some() {
        return Ok(());
    }
    let name = &objective.property.name;
    match sensitive {
        [only] => objective.on = Some(only.column.clone()),
        [] => {
            return Err(Error::usage(format!(
                "{name} needs a sensitive attribute: name it in SENSITIVE (column), and write {name} ON column"
            )));
        }
        _ => {
            return Err(Error::usage(format!(
                "{name} needs the sensitive attribute it is about: {name} ON {}",
                sensitive[0].column
            )));
        }
    }
    Ok(())
}

/// Looks up the property or metric of an objective and checks its arguments.
pub(super) fn bind_objective(
    registry: &Registry,
    objective: &ObjectiveClause,
    sensitive: &[SensitiveClause],
) -> Result<Objective> {
    let call = &objective.property;
    let named = |name: &str| name.eq_ignore_ascii_case(&call.name);
    let known = OBJECTIVES.iter().map(|e| e.info.name).chain(registry.metrics.names());
    let known: Vec<&str> = known.collect();
    if !known.iter().any(|name| named(name)) {
        return Err(Error::unknown("objective", &call.name, known));
    }
    if let Some(column) = &objective.on {
        if !is_of_attribute(objective) {
            return Err(Error::usage(format!(
                "{call} is not about a sensitive attribute; leave ON {column} out"
            )));
        }
        if !sensitive.iter().any(|s| s.column == *column) {
            return Err(not_sensitive(column, sensitive).context(call));
        }
    }
    let of = match property(objective) {
        Some(entry) => {
            let arguments = Arguments::bind(&entry.info, &call.args)?;
            Optimized::Property((entry.build)(&arguments, objective.on.as_deref().unwrap_or_default())?)
        }
        None => Optimized::Metric(registry.metric(call)?),
    };
    Ok(Objective {
        maximize: objective.max,
        of,
    })
}
