//! The description of the release in the footer of a Parquet file. It contains no data value.

use crate::data::folder::{Footer, sha256};
use crate::release::engine::decide::Decision;
use crate::release::job::{Job, Target};
use parquet::file::metadata::KeyValue;

/// Returns the footer of every file of a release. The footer is empty unless the target asks for a
/// footer.
pub(super) fn footer(job: &Job, target: &Target, decision: &Decision) -> Footer {
    if !target.footer {
        return Footer::default();
    }
    let models = job
        .guarantees
        .constraints
        .iter()
        .map(|c| c.describe(&job.roles.quasi_identifiers));
    let mut footer = Footer::from([
        (
            "anonsql.statement_sha256".to_string(),
            job.output.statement_sha256.clone(),
        ),
        ("anonsql.models".to_string(), models.collect::<Vec<_>>().join(" AND ")),
    ]);
    // A footer must not reveal anything about a sample, and personal limits are applied only while
    // files are written.
    let is_known = job.guarantees.sampling().is_none() && job.guarantees.of_rows().is_none();
    let smallest = decision.evaluator.smallest_class(&decision.classes, &decision.verdict);
    if let Some(k) = smallest.filter(|_| is_known) {
        footer.insert("anonsql.reached_k".to_string(), k.to_string());
    }
    let facts: Vec<&str> = footer.values().map(String::as_str).collect();
    let release = sha256(&format!(
        "{} {} {}",
        facts.join(" "),
        job.goal.seed,
        decision.describe(&job.roles)
    ));
    footer.insert("anonsql.release".to_string(), release);
    footer
}

/// Returns a footer as the key-value metadata of Parquet, or `None` if the footer is empty.
pub(super) fn metadata(footer: &Footer) -> Option<Vec<KeyValue>> {
    let pair = |(key, value): (&String, &String)| KeyValue::new(key.clone(), value.clone());
    (!footer.is_empty()).then(|| footer.iter().map(pair).collect())
}
