//! Checks the values of the columns against the standards that a request follows.

use crate::base::error::Result;
use crate::method::hierarchy::{LabelForm, Lookup, OnUnmapped};
use crate::method::standard::{Looked, LowestLabels, Treated};
use crate::method::suggest::{Facts, ValueKind};
use crate::method::warning::{Examined, Fate};
use crate::release::engine::decide::Decision;
use crate::release::job::Job;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use arrow::util::display::array_value_to_string;

/// The approximate maximum number of distinct values whose form is examined in each column.
const TEXTS: usize = 500;

/// Fails if a standard of the request does not allow the values of a column. `examined` are the
/// columns that are released unchanged or masked.
pub(super) fn check(job: &Job, decision: &Decision, examined: &[Examined]) -> Result<()> {
    if job.guarantees.standards.is_empty() {
        return Ok(());
    }
    let base = decision.evaluator.sets().base();
    let is_given = job.given_levels().is_some();
    let of_values = examined.iter().filter_map(|column| {
        let treated = match column.fate {
            Fate::Dropped => return None,
            Fate::Masked(kind) => Treated::Masked(kind),
            Fate::Kept | Fate::ClassLabel | Fate::Sensitive => Treated::Unchanged,
        };
        let facts = column.facts.clone();
        Some(Looked { facts, treated })
    });
    let mut looked: Vec<Looked> = of_values.collect();
    for (i, q) in job.roles.quasi_identifiers.iter().enumerate() {
        let lookup = base.key_schema.lookup(i);
        let level = match (is_given, &decision.verdict.partition) {
            // The chosen node decides the level, because a search may have replaced the node of an
            // earlier release.
            (true, None) => decision.classes.node().level(i),
            _ => q.levels.map_or(0, |(low, _)| low),
        };
        let facts = facts(&q.column, base.rows, lookup.values())?;
        // A standard may also examine the labels of values that the column does not have.
        let own = match with_siblings(job, &facts, lookup.values())? {
            Some(values) => &q.hierarchy.bind(values)?,
            None => lookup,
        };
        let values = known(own, q.hierarchy.on_unmapped(), level);
        let labels = values.iter().map(|code| own.level(level).codes[*code as usize]);
        let labels: Vec<u32> = labels.collect();
        let labelled = LowestLabels {
            level,
            texts: texts(own, level, &labels)?,
            labels,
            values: take(own.values(), &UInt32Array::from(values), None)?,
            computed: !matches!(q.labels, LabelForm::Text | LabelForm::Bounds),
        };
        looked.push(Looked {
            facts,
            treated: Treated::Generalized(labelled),
        });
    }
    for standard in &job.guarantees.standards {
        standard.refuse(&standard.forbidden(&looked)?)?;
    }
    Ok(())
}

/// Returns the values of a quasi-identifier, followed by the siblings that the standards of the
/// request examine; `None` if no standard examines any.
fn with_siblings(job: &Job, facts: &Facts, values: &ArrayRef) -> Result<Option<ArrayRef>> {
    let mut all: Option<ArrayRef> = None;
    for ask in job.guarantees.standards.iter().flat_map(|standard| standard.asks) {
        if let Some(more) = ask.siblings(facts, all.as_ref().unwrap_or(values))? {
            all = Some(more);
        }
    }
    Ok(all)
}

/// Returns the texts of the labels that have the indices `labels` at `level`.
fn texts(lookup: &Lookup, level: u8, labels: &[u32]) -> Result<StringArray> {
    let texts = cast(&lookup.level(level).labels, &DataType::Utf8)?;
    let texts = take(&texts, &UInt32Array::from(labels.to_vec()), None)?;
    Ok(texts.as_string::<i32>().clone())
}

/// Returns the codes of the values whose rows can be released. Above level 0, the rows of a value
/// that the hierarchy does not map are not released, unless ON UNMAPPED TOP gives them the top
/// label.
fn known(lookup: &Lookup, on_unmapped: OnUnmapped, level: u8) -> Vec<u32> {
    let is_left_out = |code: usize| level > 0 && on_unmapped != OnUnmapped::Top && lookup.is_unmapped(code);
    let values = lookup.values();
    let codes = (0..values.len()).filter(|code| values.is_valid(*code) && !is_left_out(*code));
    codes.map(|code| code as u32).collect()
}

/// Returns the facts about a quasi-identifier with these distinct values.
fn facts(column: &str, rows: u64, values: &ArrayRef) -> Result<Facts> {
    let step = (values.len() / TEXTS).max(1);
    let sampled = (0..values.len()).step_by(step).filter(|row| values.is_valid(*row));
    let sample = sampled.map(|row| array_value_to_string(values, row));
    Ok(Facts {
        rows,
        values: rows,
        distinct: values.len() as u64,
        sample: sample.collect::<Result<_, _>>()?,
        ..Facts::of_name(column, ValueKind::of(values.data_type()))
    })
}
