//! The loss of each search.

use super::clock::process_cpu;
use super::{COLUMNS, Plan, quasi_identifiers, sql};
use anonsql::AnonContext;
use anonsql::manifest::Manifest;
use std::io::Write;

/// The searches, each with the name of its column first. `r` labels ages by tight ranges, and `h`
/// by the labels of their hierarchy. The hierarchy of ages is a file, so RECODING LOCAL uses its
/// labels; `range` shows the loss without these labels.
const SEARCHES: [(&str, &str); 9] = [
    ("mondrian r", "SEARCH USING mondrian (ranges => exact)"),
    ("mondrian h", "SEARCH USING mondrian (numbers => hierarchy)"),
    ("adaptive_clustering", "SEARCH USING adaptive_clustering"),
    ("peel r, no rounds", "SEARCH USING peel (rounds => 0, ranges => exact)"),
    (
        "peel h, no rounds",
        "SEARCH USING peel (rounds => 0, numbers => hierarchy)",
    ),
    ("peel r", "SEARCH USING peel (ranges => exact)"),
    ("peel h", "SEARCH USING peel (numbers => hierarchy)"),
    ("peel range", "SEARCH USING peel (numbers => range)"),
    ("RECODING LOCAL", "RECODING LOCAL"),
];

pub async fn run(plan: &Plan, context: &AnonContext) {
    println!("Adult, 9 quasi-identifiers: glm, and CPU seconds of the statement\n");
    print!("| k |");
    SEARCHES.iter().for_each(|(name, _)| print!(" {name} | CPU s |"));
    println!("\n|---|{}", "---|".repeat(2 * SEARCHES.len()));
    for k in &plan.ks {
        print!("| {k} |");
        for (at, (_, search)) in SEARCHES.iter().enumerate() {
            let target = plan.scratch.path().join(format!("loss_{k}_{at}"));
            let statement = format!(
                "ANONYMIZE adult TO '{}' {} SATISFYING k_anonymity({k}) MINIMIZING glm {search}",
                target.display(),
                quasi_identifiers(&COLUMNS)
            );
            let before = process_cpu();
            sql(context, &statement).await;
            let seconds = process_cpu().saturating_sub(before).as_secs_f64();
            let manifest = Manifest::read(&target)
                .expect("a manifest that can be read")
                .expect("a release");
            print!(" {:.4} | {seconds:.1} |", manifest.metrics["glm"]);
            // A row takes minutes, so each figure is printed as soon as it is known.
            let _ = std::io::stdout().flush();
        }
        println!();
    }
    println!();
}
