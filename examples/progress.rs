//! Follows a run: its phase, the number of rows that it has read, and the findings of its search.
//!
//! `cargo run --example progress`

use anonsql::AnonContext;
use anonsql::Progress;
use anonsql::error::Result;
use anonsql::{Observer, Phase};
use datafusion::prelude::SessionContext;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Stores the reports of a run. An application would display them.
#[derive(Default)]
struct Kept {
    phases: Mutex<Vec<Phase>>,
    rows: Arc<AtomicU64>,
    nodes: AtomicU64,
}

impl Observer for Kept {
    /// Begins a phase. The run adds the rows of the phase to the returned counter.
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        if let Ok(mut phases) = self.phases.lock() {
            phases.push(phase);
        }
        Arc::clone(&self.rows)
    }

    fn searched(&self, progress: Progress) {
        self.nodes.store(progress.nodes, Ordering::Relaxed);
    }
}

#[tokio::main]
pub async fn main() -> Result<()> {
    let kept = Arc::new(Kept::default());
    let anon = AnonContext::new(SessionContext::new()).with_observer(Arc::clone(&kept) as Arc<dyn Observer>);
    anon.sql(
        "CREATE TABLE people AS VALUES (31), (34), (37), (39);
         CREATE HIERARCHY age AS INTERVALS (5, 10);
         ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)",
    )
    .await?;
    let phases = kept.phases.lock().map(|phases| phases.clone()).unwrap_or_default();
    assert_eq!(phases.first(), Some(&Phase::Prepare));
    assert!(phases.contains(&Phase::Search));
    assert!(kept.rows.load(Ordering::Relaxed) >= 4 && kept.nodes.load(Ordering::Relaxed) > 0);
    Ok(())
}
