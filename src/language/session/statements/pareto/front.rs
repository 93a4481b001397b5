//! The typed result of PARETO FRONT OF.

/// A Pareto front: the nodes for which no other node is better in one objective and at least as
/// good in all others.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let front = anon
///     .pareto_front("PARETO FRONT OF ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) OPTIMIZING MAX k, MIN glm")
///     .await?;
/// assert!(front.exact);
/// let best_k = &front.points[0];
/// assert_eq!((front.objectives[0].as_str(), best_k.values[0]), ("k", 4.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParetoFront {
    /// The quasi-identifiers, in the order of [`FrontPoint::levels`].
    pub quasi_identifiers: Vec<String>,
    /// The names of the objectives, in the order of [`FrontPoint::values`].
    pub objectives: Vec<String>,
    /// The nodes of the front. The first one has the best value of the first objective.
    pub points: Vec<FrontPoint>,
    /// The index of the knee point in `points`.
    pub knee: usize,
    /// The number of distinct nodes that were assessed.
    pub nodes: u64,
    /// Whether this is the true front: every other node was assessed, or cannot be anonymous.
    pub exact: bool,
    /// The reason why the search was stopped early; `None` if it was completed.
    pub stopped: Option<&'static str>,
}

impl ParetoFront {
    /// Describes whether the front is exact, or is only the front of the assessed nodes.
    pub fn proof(&self) -> String {
        match self.stopped {
            Some(reason) => format!("stopped ({reason}): of the {} nodes assessed", self.nodes),
            None if self.exact => "the true front".into(),
            None => format!("of the {} nodes assessed", self.nodes),
        }
    }
}

/// A node of a [`ParetoFront`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age)";
/// let front = anon.pareto_front(&format!("PARETO FRONT OF {request} OPTIMIZING MAX k, MIN glm")).await?;
/// // The clauses of the point release its node.
/// let released = anon.anonymize(&format!("{request} {}", front.points[front.knee].apply)).await?;
/// assert_eq!(released.release().map(|r| r.rows_out), Some(4));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrontPoint {
    /// The level of each quasi-identifier.
    pub levels: Vec<u8>,
    /// The value of each objective.
    pub values: Vec<f64>,
    /// The number of rows that are suppressed.
    pub suppressed: u64,
    /// The number of equivalence classes that are released.
    pub classes: u64,
    /// The clauses with which ANONYMIZE releases the node as it was measured: SATISFYING,
    /// SUPPRESSING and AT NODE.
    pub apply: String,
}
