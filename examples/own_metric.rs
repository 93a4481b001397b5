//! Defines a custom quality metric: the number of rows in the largest class.
//!
//! `cargo run --example own_metric`

use anonsql::AnonContext;
use anonsql::error::Result;
use anonsql::extend::metric::{Build, Measure, Metric, Subject, View};
use anonsql::extend::{Entry, Info};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;

#[derive(Debug)]
struct LargestClass;

impl Metric for LargestClass {
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        Ok(Box::new(Prepared { rows: subject.rows() }))
    }
}

#[derive(Debug)]
struct Prepared {
    rows: u64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        view.class_sizes().max().unwrap_or(0) as f64
    }

    fn range(&self) -> (f64, f64) {
        (0.0, self.rows as f64)
    }
}

const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "largest_class",
        summary: "the rows of the largest class",
        params: &[],
        example: "MINIMIZING largest_class",
        reference: "an example",
    },
    build: |_| Ok(Box::new(LargestClass)),
};

#[tokio::main]
pub async fn main() -> Result<()> {
    let anon = AnonContext::new(SessionContext::new());
    anon.register_metric(ENTRY)?;
    anon.sql(
        "CREATE TABLE people AS VALUES (31, 'a'), (33, 'a'), (36, 'b'), (38, 'b');
         CREATE HIERARCHY age AS INTERVALS (5, 10)",
    )
    .await?;
    // The metric can be minimized alone or in a sum, and can be an objective of a Pareto front.
    for goal in ["largest_class", "0.5 * largest_class + 0.5 * glm"] {
        let released = anon
            .sql(&format!(
                "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age, column2) SATISFYING k_anonymity(2) MINIMIZING {goal}"
            ))
            .await?;
        assert!(pretty_format_batches(&released)?.to_string().contains("30-34"));
    }
    let front = anon
        .sql("PARETO FRONT OF ANONYMIZE people QUASI IDENTIFIERS (column1 USING age, column2) OPTIMIZING MAX k, MIN largest_class")
        .await?;
    assert!(front[0].column_by_name("largest_class").is_some());
    Ok(())
}
