//! The figures of a release, as values.

use crate::data::drift::ReplaySummary;
use crate::data::folder::{Budget, Check, ItemSetSummary, PersonalSummary, RandomizedColumn, Tried};
use crate::method::warning::Warning;

/// The figures of a recounted release.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)";
/// let anonymized = anon.anonymize(request).await?;
/// let release = anonymized.release().expect("nothing was there to keep");
/// assert_eq!((release.reached_k, release.classes, release.rows_suppressed), (Some(2), 2, Some(0)));
/// assert!(release.checks.iter().all(|check| check.ok));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Release {
    /// The number of rows read; `None` if it must stay unknown (differential privacy).
    pub rows_in: Option<u64>,
    /// The number of rows released.
    pub rows_out: u64,
    /// The number of rows suppressed; `None` under the same condition as [`Release::rows_in`].
    pub rows_suppressed: Option<u64>,
    /// The number of equivalence classes released.
    pub classes: u64,
    /// The size of the smallest class, recounted on the released rows, in entities if the request
    /// names an entity.
    pub reached_k: Option<u64>,
    /// The search or partitioning algorithm that found the release; `None` if the node was given.
    pub search: Option<String>,
    /// The algorithms that RECODING LOCAL chose from; empty for any other release.
    pub tried: Vec<Tried>,
    /// The chosen node as text: the level of each column, or, for a partition, the number of labels
    /// in each column.
    pub node: String,
    /// The name of the metric that was minimized.
    pub metric: String,
    /// The value of the metric; `None` under the same condition as [`Release::rows_in`], because a
    /// loss depends on the source's rows.
    pub value: Option<f64>,
    /// The optimality proof of the search, in words.
    pub proof: String,
    /// The number of distinct nodes assessed.
    pub nodes: u64,
    /// The recounted check of each promise.
    pub checks: Vec<Check>,
    /// The summary of each randomized column.
    pub randomized: Vec<RandomizedColumn>,
    /// The summary of the personal limits; `None` if the rows have no limits.
    pub personal: Option<PersonalSummary>,
    /// The summary of each column of sets of items.
    pub items: Vec<ItemSetSummary>,
    /// The warnings about the roles of the request, including those that it accepts.
    pub warnings: Vec<Warning>,
    /// The advice to use another search that would lose far less, or the amount that a replaced
    /// release adds to the budget.
    pub advice: Option<String>,
    /// The budget of a differentially private release.
    pub budget: Option<Budget>,
    /// How the node of an earlier release was used, with the drift since then (USING MANIFEST).
    pub replay: Option<ReplaySummary>,
    /// The figures of the whole release if the rows were added to a release (APPEND). All other
    /// figures are about the added rows alone. The suppressed rows are held back for a later
    /// APPEND.
    pub growth: Option<Growth>,
}

/// The figures of a release that grows.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # let folder = tempfile::tempdir().unwrap();
/// # let target = folder.path().join("released").display().to_string();
/// # anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = format!(
///     "ANONYMIZE people TO '{target}' APPEND QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)"
/// );
/// for rows in [4, 8] {
///     let anonymized = anon.anonymize(&request).await?;
///     let growth = anonymized.release().and_then(|release| release.growth.clone()).expect("APPEND");
///     assert_eq!(growth.rows, rows);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// The number of batches, including the new batch.
    pub batches: u64,
    /// The number of rows in all batches.
    pub rows: u64,
    /// The number of classes over all batches. Rows with the same released labels form one class.
    pub classes: u64,
    /// The size of the smallest class over all batches.
    pub reached_k: Option<u64>,
}
