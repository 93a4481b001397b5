//! Tests local recoding on Adult. The result is finer than the best node of the lattice, and VERIFY
//! recounts every model.

use crate::common::{Numbers, adult, collect, shared};
use crate::golden::ADULT;
use anonsql::AnonContext;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns except the class label.
const COLUMNS: &[&str] = ADULT.split_at(8).0;

fn using(columns: &[&str]) -> String {
    let using: Vec<String> = columns.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    using.join(", ")
}

fn request(k: u32, percent: u32, metric: &str) -> String {
    format!(
        "ANONYMIZE adult QUASI IDENTIFIERS ({}) CLASS (\"salary-class\") SATISFYING k_anonymity({k}) \
         SUPPRESSING AT MOST {percent} PERCENT MINIMIZING {metric}",
        using(COLUMNS)
    )
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn mondrian_loses_less_than_the_best_node() {
    let context = adult(COLUMNS).await;
    for k in [5, 10, 50] {
        for metric in ["glm", "c_avg"] {
            let searches = "SEARCH USING (auto, mondrian(ranges => exact), mondrian(relaxed, ranges => exact))";
            let sql = format!("COMPARE {} {searches}", request(k, 0, metric));
            let compared = Numbers::of(&collect(&context, &sql).await);
            for row in 1..3 {
                assert!(
                    compared.get(metric, row) < compared.get(metric, 0),
                    "k = {k}, {metric}, {row}"
                );
            }
            for row in 0..3 {
                assert!(compared.get("k", row) >= f64::from(k));
            }
            // If nothing is suppressed, the average group has less than twice the required size.
            assert!(compared.get("c_avg", 1) < 2.0 && compared.get("c_avg", 2) < 2.0);
        }
    }
}

/// The numbers are the glm of another tool (the peer), which repeats full-domain recoding on the
/// remaining rows, in steps of 0.1 percent, with all nine columns.
#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn peel_loses_less_than_any_other() {
    let context = adult(&ADULT).await;
    for (k, rounds, peer) in [(2, 1, 0.0240), (5, 1, 0.0538), (10, 1, 0.0772), (50, 10, 0.1490)] {
        let sql = format!(
            "COMPARE ANONYMIZE adult QUASI IDENTIFIERS ({}) SATISFYING k_anonymity({k}) SEARCH USING (mondrian(ranges => exact), \
             peel(rounds => {rounds}, numbers => hierarchy), peel(rounds => 1, ranges => exact))",
            using(&ADULT)
        );
        let compared = Numbers::of(&collect(&context, &sql).await);
        let [mondrian, labels, ranges] = [0, 1, 2].map(|row| compared.get("glm", row));
        assert!(
            labels < peer && ranges < labels && ranges < mondrian,
            "{k}: {mondrian} {labels} {ranges}"
        );
        assert!((0..3).all(|row| compared.get("k", row) >= f64::from(k)));
    }
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn top_down_classifies_no_worse_than_the_best_node() {
    let context = adult(COLUMNS).await;
    for k in [5, 10, 50] {
        for percent in [0, 1, 5] {
            let sql = format!("COMPARE {} SEARCH USING (auto, top_down)", request(k, percent, "cm"));
            let compared = Numbers::of(&collect(&context, &sql).await);
            assert!(
                compared.get("cm", 1) <= compared.get("cm", 0),
                "k = {k}, {percent} percent"
            );
            assert!(compared.get("k", 1) >= f64::from(k));
        }
    }
}

/// VERIFY checks the written files, as any user could, for models of each kind.
#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn classes_hold_k_l_and_t() {
    let context = adult(COLUMNS).await;
    let scratch = tempfile::tempdir().unwrap();
    let quasi = using(&COLUMNS[..7]);
    for (number, search) in ["mondrian", "mondrian(relaxed)", "top_down"].into_iter().enumerate() {
        for models in [
            "k_anonymity(5)",
            "k_anonymity(5) AND l_diversity(3) ON occupation",
            "k_anonymity(10) AND t_closeness(0.3) ON occupation",
            "entropy_l_diversity(4) ON occupation AND max_risk(0.1)",
            "recursive_l_diversity(3, 3) ON occupation AND average_risk(0.1)",
        ] {
            let target = scratch.path().join(format!("{number}{models}"));
            let roles = format!("QUASI IDENTIFIERS ({quasi}) SENSITIVE (occupation)");
            let sql = format!(
                "ANONYMIZE adult TO '{}' {roles} CLASS (\"salary-class\") SATISFYING {models} SEARCH USING {search}",
                target.display()
            );
            let released = Numbers::of(&collect(&context, &sql).await);
            assert!(released.get("classes", 0) > 10.0, "{search} {models}");
            let verify = format!(
                "VERIFY '{}' AGAINST adult {roles} SATISFYING {models}",
                target.display()
            );
            let statement = anonsql::internal::session::parse_each(&verify)
                .unwrap()
                .remove(0)
                .unwrap();
            let answer = context.execute(statement).await.unwrap();
            assert!(answer.failed.is_empty(), "{search} {models}: {:?}", answer.failed);
        }
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            std::fs::read(&path).unwrap(),
        )
    });
    files.collect()
}

/// This test uses the invented census instead of Adult, because the census is always available.
#[tokio::test]
async fn the_same_statement_gives_the_same_bytes_whatever_the_threads() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    for search in ["mondrian", "mondrian(relaxed)", "top_down"] {
        for more in ["", "SUPPRESSED ROWS STARRED"] {
            let mut seen = vec![];
            for threads in [1, 2, 2] {
                let context: AnonContext = crate::common::context(threads);
                collect(&context, "CREATE HIERARCHY age AS INTERVALS (5, 10, 20)").await;
                collect(&context, "CREATE HIERARCHY zip AS PREFIX (4, 3, 2)").await;
                collect(
                    &context,
                    "CREATE HIERARCHY education FROM 'data/hierarchies/education.csv'",
                )
                .await;
                let sql = format!(
                    "ANONYMIZE 'data/census.parquet' TO '{}' OVERWRITE IDENTIFIERS (name, ssn, birth_date) \
                     QUASI IDENTIFIERS (age USING age, sex, zip USING zip, education USING education) \
                     SENSITIVE (occupation, income) CLASS (salary_class) KEEP (marital_status, race, workclass, native_country) \
                     SATISFYING k_anonymity(5) AND l_diversity(2) ON occupation SUPPRESSING AT MOST 1 PERCENT {more} \
                     SEARCH USING {search}",
                    target.display()
                );
                collect(&context, &sql).await;
                seen.push(files(&target));
            }
            assert!(
                seen[0].len() > 1 && seen[0] == seen[1] && seen[1] == seen[2],
                "{search} {more}"
            );
        }
    }
}

/// A manifest contains the number of labels, but none of the labels.
#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn the_manifest_holds_no_label() {
    let context = adult(COLUMNS).await;
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let statement = request(5, 0, "glm").replace("adult", &format!("adult TO '{}'", target.display()));
    collect(&context, &format!("{statement} SEARCH USING mondrian")).await;
    let manifest = std::fs::read_to_string(target.join("_manifest.json")).unwrap();
    let csv = std::fs::read_to_string(shared("data/adult_arx_hier/occupation.csv")).unwrap();
    for label in csv.lines().flat_map(|l| l.split(';')).filter(|l| *l != "*") {
        assert!(!manifest.contains(label), "{label}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["node"], serde_json::json!({}));
    assert_eq!(manifest["partition"]["labels"]["sex"], 2);
    let again = format!("{} USING MANIFEST '{}'", request(5, 0, "glm"), target.display());
    let refused = context.sql(&again).await.unwrap_err().to_string();
    assert!(refused.contains("local recoding"), "{refused}");
}
