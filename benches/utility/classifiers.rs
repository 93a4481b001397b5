//! Measures the accuracy of classifiers trained on a release. Nine tenths of the table are
//! released, and the classifiers are tested on the other tenth.

use super::{COLUMNS, Plan, quasi_identifiers, sql};
use anonsql::AnonContext;
use arrow::array::{Array, AsArray};
use arrow::datatypes::Float64Type;

/// The searches, each with the name of its row first.
const SEARCHES: [(&str, &str); 5] = [
    ("auto", "SEARCH USING auto"),
    ("mondrian", "SEARCH USING mondrian"),
    ("top_down", "SEARCH USING top_down"),
    ("peel", "SEARCH USING peel"),
    ("RECODING LOCAL", "RECODING LOCAL"),
];

/// The measures, each with the name of its column first.
const MEASURES: [(&str, &str); 2] = [
    ("naive Bayes", "accuracy, naive Bayes"),
    ("decision tree", "accuracy, decision tree"),
];

const CLASS: &str = "salary-class";

pub async fn run(plan: &Plan, context: &AnonContext) {
    let (times, folds) = plan.folds;
    println!(
        "Adult, 8 quasi-identifiers, class {CLASS}: accuracy on held-back rows, mean and standard error of {} folds\n",
        times * folds
    );
    println!("| k | search | naive Bayes | decision tree |\n|---|---|---|---|");
    divide(context, times).await;
    let mut raw: Option<[Vec<f64>; 2]> = None;
    for k in &plan.ks {
        for (name, search) in SEARCHES {
            let (mut released, mut of_source) = ([vec![], vec![]], [vec![], vec![]]);
            for time in 1..=times {
                for fold in 1..=folds {
                    let target = plan.scratch.path().join("released").display().to_string();
                    for (i, found) in accuracy(context, *k, search, (time, fold), &target)
                        .await
                        .into_iter()
                        .enumerate()
                    {
                        released[i].push(found[0]);
                        of_source[i].push(found[1]);
                    }
                }
            }
            if raw.is_none() {
                println!(
                    "| - | none: the source | {} | {} |",
                    spread(&of_source[0]),
                    spread(&of_source[1])
                );
            }
            raw.get_or_insert(of_source);
            println!("| {k} | {name} | {} | {} |", spread(&released[0]), spread(&released[1]));
        }
    }
}

/// Creates the table `folds`: the rows of the table, with an additional column for each division of
/// the table. The column contains the index of the fold to which the row belongs.
async fn divide(context: &AnonContext, times: u32) {
    let fold = |time| format!("ntile(10) OVER (ORDER BY md5(CAST(n AS VARCHAR) || '-{time}')) AS fold_{time}");
    let folds: Vec<String> = (1..=times).map(fold).collect();
    // One partition reads the rows in the order of the file, so the folds are the same in every
    // run.
    sql(context, "SET datafusion.execution.target_partitions = 1").await;
    let rows = format!(
        "SELECT *, {} FROM (SELECT *, row_number() OVER () AS n FROM adult)",
        folds.join(", ")
    );
    sql(context, &format!("CREATE TABLE folds AS {rows}")).await;
    sql(
        context,
        &format!("SET datafusion.execution.target_partitions = {}", super::threads()),
    )
    .await;
}

/// Releases all rows except those in one fold. Returns the accuracies of classifiers that are
/// trained on the release and on the source, and tested on that fold.
async fn accuracy(
    context: &AnonContext,
    k: u32,
    search: &str,
    (time, fold): (u32, u32),
    target: &str,
) -> [[f64; 2]; 2] {
    let columns: Vec<String> = COLUMNS.iter().map(|c| format!("\"{c}\"")).collect();
    let columns = columns.join(", ");
    let of = |sign: &str| format!("(SELECT {columns} FROM folds WHERE fold_{time} {sign} {fold})");
    let quasi: Vec<&str> = COLUMNS.iter().copied().filter(|c| *c != CLASS).collect();
    let statement = format!(
        "ANONYMIZE {} TO '{target}' OVERWRITE {} CLASS (\"{CLASS}\") SATISFYING k_anonymity({k}) {search}",
        of("<>"),
        quasi_identifiers(&quasi)
    );
    sql(context, &statement).await;
    let utility = format!(
        "UTILITY OF '{target}' AGAINST {} CLASS (\"{CLASS}\") TESTING ON {}",
        of("<>"),
        of("=")
    );
    let rows = sql(context, &utility).await;
    MEASURES.map(|(_, measure)| {
        let found = rows.iter().find_map(|batch| {
            let measures = batch.column_by_name("measure")?.as_string::<i32>();
            let row = (0..batch.num_rows()).find(|row| measures.is_valid(*row) && measures.value(*row) == measure)?;
            let number = |name: &str| Some(batch.column_by_name(name)?.as_primitive::<Float64Type>().value(row));
            Some([number("value")?, number("of_source")?])
        });
        found.expect(measure)
    })
}

/// Formats the mean and the standard error of the mean.
fn spread(values: &[f64]) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    format!("{mean:.4} ± {:.4}", (variance / n).sqrt())
}
