//! Measures the cost of a hierarchy's rules: the loss with a TOP CODE for ages and with the labels
//! of a hierarchy, compared with the loss without them.

use super::{COLUMNS, Plan, sql};
use anonsql::AnonContext;
use anonsql::manifest::Manifest;
use std::io::Write;

/// Five ways to label ages: a name, the hierarchy of ages, and the search. "ranges of all ages"
/// measures local recoding without a TOP CODE and without the labels of a hierarchy.
const RULES: [(&str, &str, &str); 5] = [
    ("ranges of all ages", "plain", "RECODING LOCAL"),
    ("ranges, TOP CODE 75", "coded", "RECODING LOCAL"),
    ("ranges, TOP CODE 65", "low", "RECODING LOCAL"),
    (
        "ranges that break a hierarchy",
        "age",
        "SEARCH USING peel (numbers => range)",
    ),
    ("labels of the hierarchy", "age", "RECODING LOCAL"),
];

/// The hierarchies of ages that this bench creates.
const HIERARCHIES: [(&str, &str); 3] = [
    ("plain", "INTERVALS (5, 10, 20)"),
    ("coded", "INTERVALS (5, 10, 20) TOP CODE 75"),
    ("low", "INTERVALS (5, 10, 20) TOP CODE 65"),
];

pub async fn run(plan: &Plan, context: &AnonContext) {
    for (name, kind) in HIERARCHIES {
        sql(context, &format!("CREATE HIERARCHY \"{name}\" AS {kind}")).await;
    }
    println!("Adult, 9 quasi-identifiers, local recoding: glm with the rules of a hierarchy held, and without them\n");
    print!("| k |");
    RULES.iter().for_each(|(name, _, _)| print!(" {name} |"));
    println!("\n|---|{}", "---|".repeat(RULES.len()));
    for k in &plan.ks {
        print!("| {k} |");
        for (at, (_, age, search)) in RULES.iter().enumerate() {
            let target = plan.scratch.path().join(format!("rules_{k}_{at}"));
            let columns = COLUMNS.map(|column| {
                let hierarchy = if column == "age" { age } else { column };
                format!("\"{column}\" USING \"{hierarchy}\"")
            });
            let statement = format!(
                "ANONYMIZE adult TO '{}' QUASI IDENTIFIERS ({}) SATISFYING k_anonymity({k}) MINIMIZING glm {search}",
                target.display(),
                columns.join(", ")
            );
            sql(context, &statement).await;
            let manifest = Manifest::read(&target)
                .expect("a manifest that can be read")
                .expect("a release");
            print!(" {:.4} |", manifest.metrics["glm"]);
            let _ = std::io::stdout().flush();
        }
        println!();
    }
    println!();
}
