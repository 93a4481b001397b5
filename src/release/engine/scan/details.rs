//! The details that the classes of a job contain in addition to their rows: sensitive values,
//! entities, class labels.

use crate::data::frequency::{Attribute, Base, DetailRequest};
use crate::data::metric::Metric;
use crate::release::job::{Constraint, Input, Job, Roles};

/// Returns the details that the classes of a job must contain for the job's models and for
/// measuring `metrics`.
pub fn detail_requests(job: &Job, metrics: &[&dyn Metric]) -> Vec<DetailRequest> {
    let mut requests: Vec<DetailRequest> = vec![];
    let mut add = |request: DetailRequest| {
        if !requests.contains(&request) {
            requests.push(request);
        }
    };
    if let Some(entity) = &job.input.entity {
        add(DetailRequest::Distinct(entity.clone()));
    }
    for constraint in &job.guarantees.constraints {
        add_attribute(&job.input, constraint, &mut add);
    }
    let divides = job.candidates().iter().any(|c| c.partitioner.reads_class_label());
    if divides || metrics.iter().any(|m| m.reads().class_label) {
        class_label_request(&job.roles).into_iter().for_each(&mut add);
    }
    if metrics.iter().any(|m| m.reads().attribute) {
        measured_attribute(&job.roles).into_iter().for_each(add);
    }
    requests
}

/// Returns the detail of the class label, counted by rows.
pub(in crate::release::engine) fn class_label_request(roles: &Roles) -> Option<DetailRequest> {
    Some(DetailRequest::Values(roles.class_label.clone()?))
}

/// Returns the detail of the sensitive attribute that metrics read, counted by rows.
pub(in crate::release::engine) fn measured_attribute(roles: &Roles) -> Option<DetailRequest> {
    let first = roles.sensitive.first()?;
    Some(DetailRequest::Values(first.column.clone()))
}

fn add_attribute(input: &Input, constraint: &Constraint, add: &mut impl FnMut(DetailRequest)) {
    // A personal limit needs no detail of classes.
    if constraint.is_of_rows() {
        return;
    }
    if let (true, Some(attribute)) = (constraint.model.reads().attribute, &constraint.attribute) {
        add(attribute_request(input, attribute));
    }
}

/// Returns the detail of a sensitive attribute: its rows by value, or its distinct entities by
/// value if the job has an entity.
pub(in crate::release::engine) fn attribute_request(input: &Input, attribute: &str) -> DetailRequest {
    match &input.entity {
        Some(entity) => DetailRequest::Pairs {
            entity: entity.clone(),
            values: attribute.into(),
        },
        None => DetailRequest::Values(attribute.into()),
    }
}

/// Returns the index of a detail in the base set, or `None` if the base set does not contain the
/// detail.
pub(in crate::release::engine) fn position(base: &Base, request: &DetailRequest) -> Option<usize> {
    base.attributes.iter().position(|a| a.request == *request)
}

/// Appends the sensitive values of a class with their counts to `histogram`, ascending by code,
/// from the entries of its detail.
pub(in crate::release::engine) fn fill(
    histogram: &mut Vec<(u32, u64)>,
    attribute: &Attribute,
    entries: impl Iterator<Item = (u32, u64)>,
) {
    match &attribute.value_of_code {
        None => histogram.extend(entries),
        // An entity counts once per value. Pairs are ordered by value, so equal values are
        // neighbours.
        Some(values) => {
            for (code, _) in entries {
                match histogram.last_mut() {
                    Some((value, n)) if *value == values[code as usize] => *n += 1,
                    _ => histogram.push((values[code as usize], 1)),
                }
            }
        }
    }
}
