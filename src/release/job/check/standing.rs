//! Compares a request with an existing release as the manifest of the release describes it. APPEND
//! adds rows only to a release of the same kind, and IF NOT EXISTS keeps only such a release.

use crate::base::catalogue::{Argument, Arguments, Call, Value, find};
use crate::base::error::Result;
use crate::data::folder::{Check, Manifest, Role};
use crate::data::model::{Comparison, MODELS, PrivacyModel, Relation};
use crate::method::hierarchy::Hierarchy;
use crate::release::job::{Constraint, Guarantees, Job, Roles};
use std::cmp::Ordering;
use std::sync::Arc;

/// A difference between the released columns of a request and those of a release.
pub(super) enum Unlike {
    /// The release has this column, but the request does not release it.
    Missing(String),
    /// The request releases this column, but the release does not have it.
    New(String),
    /// The column has another role in the release.
    Role(String),
    /// The column has another mask in the release: the column, the mask in the request, and the
    /// mask in the release.
    Mask(String, String, String),
    /// The columns are the same in another order. The names are in the order of the release.
    Order(Vec<String>),
}

/// Returns the role of a released column, as a manifest records it.
fn role(roles: &Roles, column: &str) -> Role {
    match () {
        () if roles.item_set(column).is_some() => Role::ItemSet,
        () if roles.quasi_identifier(column).is_some() => Role::QuasiIdentifier,
        () if roles.sensitive.iter().any(|s| s.column == column) => Role::Sensitive,
        () if roles.identifiers.iter().any(|i| i == column) => Role::Identifier,
        () if roles.class_label.as_deref() == Some(column) => Role::Class,
        () => Role::Keep,
    }
}

/// Returns the first difference between the released columns in name, role, mask or order; `None`
/// if there is none.
pub(super) fn unlike_columns(job: &Job, standing: &Manifest) -> Option<Unlike> {
    let fields = job.input.source.rows.schema().fields().iter().map(|f| f.name());
    let released = fields.filter(|name| job.roles.releases(name));
    let released: Vec<(&str, Role)> = released.map(|name| (name.as_str(), role(&job.roles, name))).collect();
    let known: Vec<(&str, Role)> = standing.columns.iter().map(|c| (c.name.as_str(), c.role)).collect();
    let is_released = |column: &str| released.iter().any(|(name, _)| *name == column);
    if let Some((column, _)) = known.iter().find(|column| !released.contains(column)) {
        return Some(match is_released(column) {
            true => Unlike::Role((*column).to_string()),
            false => Unlike::Missing((*column).to_string()),
        });
    }
    if let Some((column, _)) = released.iter().find(|column| !known.contains(column)) {
        return Some(Unlike::New((*column).to_string()));
    }
    if let Some(unlike) = unlike_mask(&job.roles, standing) {
        return Some(unlike);
    }
    let in_order = || known.iter().map(|(name, _)| (*name).to_string()).collect();
    (released != known).then(|| Unlike::Order(in_order()))
}

/// Returns the first column that has another mask in the release; `None` if there is none. Whether
/// the secrets are the same cannot be known.
fn unlike_mask(roles: &Roles, standing: &Manifest) -> Option<Unlike> {
    const NONE: &str = "no mask";
    standing.columns.iter().find_map(|released| {
        let own = roles
            .mask(&released.name)
            .map(|of| of.clause.without_secret().to_string());
        let own = own.unwrap_or_else(|| NONE.into());
        let other = released.mask().unwrap_or(NONE);
        (own != other).then(|| Unlike::Mask(released.name.clone(), own, other.to_string()))
    })
}

/// Returns the first standard of the request that the release does not follow, as text; `None` if
/// it follows all of them.
pub(super) fn unfollowed(guarantees: &Guarantees, standing: &Manifest) -> Option<String> {
    let mut asked = guarantees.standards.iter().map(|standard| standard.info.name);
    let missing = asked.find(|name| !standing.following.iter().any(|own| own == name))?;
    Some(format!("it does not follow {missing}"))
}

/// Returns the first difference between a hierarchy of the request and that of the release, as
/// text; `None` if there is none.
pub(super) fn unlike_hierarchy(roles: &Roles, standing: &Manifest) -> Result<Option<String>> {
    let generalized = roles.quasi_identifiers.iter().map(|q| (&q.column, &q.hierarchy));
    let items = roles.item_sets.iter().map(|s| (&s.column, &s.hierarchy));
    let sensitive = roles
        .sensitive
        .iter()
        .filter_map(|s| Some((&s.column, s.hierarchy.as_ref()?)));
    let named: Vec<(&String, &Arc<Hierarchy>)> = generalized.chain(items).chain(sensitive).collect();
    for (column, hierarchy) in named {
        if let Some(unlike) = standing.unlike_hierarchy(column, hierarchy)? {
            return Ok(Some(unlike));
        }
    }
    Ok(None)
}

/// Describes the partitions of a release, in words that follow the name of the release in a
/// sentence.
pub(super) fn divided(partitioned_by: &[String]) -> String {
    match partitioned_by {
        [] => "has no partitions".into(),
        columns => format!("is PARTITIONED BY ({})", columns.join(", ")),
    }
}

/// Returns the built-in model to which a check in a manifest belongs; `None` if it belongs to none.
pub(super) fn model_of(check: &Check) -> Option<Box<dyn PrivacyModel>> {
    let (name, arguments) = check.check.split_once('(').unwrap_or((check.check.as_str(), ""));
    let (arguments, _) = arguments.split_once(')').unwrap_or((arguments, ""));
    let arguments = arguments.split(',').map(str::trim).filter(|text| !text.is_empty());
    let call = Call {
        name: name.trim().into(),
        args: arguments.map(argument).collect(),
    };
    let entry = find("privacy model", MODELS, &call.name).ok()?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args).ok()?).ok()
}

/// Parses an argument as it is written in a check: `5`, `1/11`, `ordered` or `k => 5`.
fn argument(text: &str) -> Argument {
    let (name, value) = match text.split_once("=>") {
        Some((name, value)) => (Some(name.trim().to_string()), value.trim()),
        None => (None, text),
    };
    let fraction = || {
        let (over, under) = value.split_once('/')?;
        Some(Value::Fraction(over.trim().parse().ok()?, under.trim().parse().ok()?))
    };
    let number = || match value.parse::<i64>() {
        Ok(whole) => Some(Value::Integer(whole)),
        Err(_) => value.parse::<f64>().ok().map(Value::Real),
    };
    Argument {
        name,
        value: number().or_else(fraction).unwrap_or_else(|| Value::Word(value.into())),
    }
}

/// Compares the promise of a constraint with `check`. `Greater` means that the constraint promises
/// more. Returns `None` unless the two are equal, or differ only in the first argument and this
/// argument is the bound.
pub(super) fn compared(roles: &Roles, constraint: &Constraint, check: &Check) -> Option<Ordering> {
    let own = constraint.describe(&roles.quasi_identifiers);
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

/// The text of a model, split into its first argument and the rest.
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
