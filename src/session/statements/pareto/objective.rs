//! From OPTIMIZING to objectives: properties and metrics looked up, arguments checked.

use crate::catalogue::Arguments;
use crate::engine::{Objective, Optimized};
use crate::error::{Error, Result};
use crate::objective::{Entry, OBJECTIVES};
use crate::session::bind::not_sensitive;
use crate::session::registry::Registry;
use crate::sql::clause::{ObjectiveClause, SensitiveClause};

/// The property that an objective names; `None` for a metric, or nothing that is known.
pub(super) fn property(objective: &ObjectiveClause) -> Option<&'static Entry> {
    let name = &objective.property.name;
    OBJECTIVES.iter().find(|e| e.info.name.eq_ignore_ascii_case(name))
}

/// Whether the values are whole numbers.
pub(super) fn is_whole(objective: &ObjectiveClause) -> bool {
    property(objective).is_some_and(|e| e.is_whole)
}

fn is_of_attribute(objective: &ObjectiveClause) -> bool {
    property(objective).is_some_and(|e| e.of_attribute)
}

/// The column of the answer: `k`, `l_diagnosis`.
pub(super) fn column_of(objective: &ObjectiveClause) -> String {
    let name = objective.property.name.to_ascii_lowercase();
    match &objective.on {
        Some(attribute) => format!("{name}_{attribute}"),
        None => name,
    }
}

/// Puts the only sensitive column after ON where the statement leaves it out, so that columns and models name it.
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

/// Looks the objective up and checks its arguments.
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
        maximise: objective.max,
        of,
    })
}
