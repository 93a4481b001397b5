//! What OPTIMIZING can name: these properties, and every metric.

use crate::catalogue::{self, Arguments, Call, Entry, Info, Kind, Param, Value};
use crate::engine::{Objective, Property};
use crate::error::{Error, Result};
use crate::job::Constraint;
use crate::metric::{self, METRICS};
use crate::model;
use crate::session::bind::not_sensitive;
use crate::sql::clause::{ObjectiveClause, SensitiveClause};

/// Makes the property; the sensitive attribute is given to those that read one.
pub type Build = fn(&Arguments, Option<String>) -> Result<Property>;

/// Every objective that is not a metric, by name.
pub static OBJECTIVES: &[Entry<Build>] = &[
    Entry {
        info: Info {
            name: "k",
            summary: "the size of the smallest class under the suppression limit",
            params: &[],
            example: "OPTIMIZING MAX k, MIN glm",
            reference: "Dewri et al. 2010, section 6, doi:10.1007/978-3-642-13739-6_6",
        },
        build: |_, _| Ok(Property::Size),
    },
    Entry {
        info: Info {
            name: "l",
            summary: "the least distinct values of a sensitive attribute in a class",
            params: &[],
            example: "OPTIMIZING MAX l ON diagnosis, MIN glm",
            reference: "Dewri et al. 2010, section 7, doi:10.1007/978-3-642-13739-6_6",
        },
        build: |_, attribute| bound("l_diversity", vec![Value::Integer(1)], attribute, true),
    },
    Entry {
        info: Info {
            name: "t",
            summary: "the greatest distance of a class's sensitive values from the table's",
            params: &[Param {
                name: "distance",
                summary: "as in t_closeness",
                kind: Kind::Word(&["categorical", "ordered", "hierarchical"]),
                default: Some("categorical"),
            }],
            example: "OPTIMIZING MIN t(ordered) ON income, MIN glm",
            reference: "Li, Li and Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856",
        },
        build: |args, attribute| {
            let distance = Value::Word(args.word("distance")?.to_string());
            bound("t_closeness", vec![Value::Real(1.0), distance], attribute, false)
        },
    },
    Entry {
        info: Info {
            name: "s_l",
            summary: "the sum over released rows of how often their own sensitive value occurs in their class",
            params: &[],
            example: "OPTIMIZING MAX s_k, MAX s_l ON diagnosis, MIN glm",
            reference: "Dewri et al. 2010, section 7, doi:10.1007/978-3-642-13739-6_6",
        },
        build: |_, attribute| Ok(Property::Spread(attribute.unwrap_or_default())),
    },
    Entry {
        info: Info {
            name: "highest_risk",
            summary: "the highest prosecutor risk of a released row, 1 / k",
            params: &[],
            example: "OPTIMIZING MIN highest_risk, MIN glm",
            reference: "definitions of RISK OF",
        },
        build: |_, _| Ok(Property::Risk),
    },
    Entry {
        info: Info {
            name: "suppressed",
            summary: "the rows that are suppressed",
            params: &[],
            example: "OPTIMIZING MAX k, MIN suppressed, MIN glm",
            reference: "ours",
        },
        build: |_, _| Ok(Property::Suppressed),
    },
];

/// The names of those that are about a sensitive attribute.
const WITH_ATTRIBUTE: [&str; 3] = ["l", "t", "s_l"];
/// The names of those whose values are whole numbers.
const COUNTS: [&str; 3] = ["k", "l", "suppressed"];

fn is_one_of(names: &[&str], objective: &ObjectiveClause) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(&objective.property.name))
}

/// Whether the values are whole numbers.
pub(super) fn counts(objective: &ObjectiveClause) -> bool {
    is_one_of(&COUNTS, objective)
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
    if !is_one_of(&WITH_ATTRIBUTE, objective) || objective.on.is_some() {
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
pub(super) fn bind_objective(objective: &ObjectiveClause, sensitive: &[SensitiveClause]) -> Result<Objective> {
    let call = &objective.property;
    let named = |name: &str| name.eq_ignore_ascii_case(&call.name);
    let known = OBJECTIVES
        .iter()
        .map(|e| e.info.name)
        .chain(METRICS.iter().map(|e| e.info.name));
    let known: Vec<&str> = known.collect();
    if !known.iter().any(|name| named(name)) {
        return Err(Error::unknown("objective", &call.name, known));
    }
    if let Some(column) = &objective.on {
        if !is_one_of(&WITH_ATTRIBUTE, objective) {
            return Err(Error::usage(format!(
                "{call} is not about a sensitive attribute; leave ON {column} out"
            )));
        }
        if !sensitive.iter().any(|s| s.column == *column) {
            return Err(not_sensitive(column, sensitive).context(call));
        }
    }
    let property = match OBJECTIVES.iter().find(|e| named(e.info.name)) {
        Some(entry) => (entry.build)(&Arguments::bind(&entry.info, &call.args)?, objective.on.clone())?,
        None => Property::Metric(metric::build(call)?),
    };
    Ok(Objective {
        name: column_of(objective),
        maximise: objective.max,
        property,
    })
}

/// What the classes reach of a model's bound.
fn bound(model: &str, values: Vec<Value>, attribute: Option<String>, least: bool) -> Result<Property> {
    let args = values
        .into_iter()
        .map(|value| catalogue::Argument { name: None, value });
    let call = Call {
        name: model.into(),
        args: args.collect(),
    };
    Ok(Property::Bound {
        constraint: Constraint {
            model: model::build(&call)?,
            meaning: "",
            call,
            attribute,
            subset: None,
        },
        least,
    })
}
