//! Tests releases that also change sensitive values: the values are randomized, or generalized as
//! far as each row requires.

use crate::common::{Numbers, adult, collect, context, number};
use anonsql::AnonContext;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::Path;
use std::sync::Arc;

const ROLES: &str = "IDENTIFIERS (name, ssn, birth_date, education, marital_status, native_country) \
    QUASI IDENTIFIERS (age USING age, sex, zip USING zip LEVELS 1 TO 4) KEEP (workclass, salary_class) \
    SENSITIVE (occupation RANDOMIZED, income RANDOMIZED, race RANDOMIZED WITHIN (sex)) \
    SATISFYING k_anonymity(5) SUPPRESSING AT MOST 2 PERCENT SEARCH USING ma_datafly";

async fn census(context: &AnonContext) {
    for sql in [
        "CREATE HIERARCHY age AS INTERVALS (5, 10, 20)",
        "CREATE HIERARCHY zip AS PREFIX (4, 3, 2)",
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet'",
    ] {
        collect(context, sql).await;
    }
}

async fn table(context: &AnonContext, name: &str, folder: &Path) {
    let create = format!(
        "CREATE EXTERNAL TABLE {name} STORED AS PARQUET LOCATION '{}/'",
        folder.display()
    );
    collect(context, &create).await;
}

async fn randomized(context: &AnonContext, target: &Path, more: &str, seed: u32) -> Vec<(String, Vec<u8>)> {
    let statement = format!(
        "ANONYMIZE census TO '{}' OVERWRITE {more} {ROLES} WITH (seed = {seed})",
        target.display()
    );
    collect(context, &statement).await;
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(target)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .map(|p| {
            (
                p.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(p).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_seed_gives_the_same_permutation_whatever_the_threads_and_the_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let mut seen = vec![];
    for threads in [1, 2, 3] {
        let context = context(threads);
        census(&context).await;
        seen.push(randomized(&context, &target, "", 1).await);
    }
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(24 << 20)));
    let config = SessionConfig::new().with_target_partitions(2);
    let session = SessionContext::new_with_config_rt(config, runtime.build_arc().unwrap());
    let limited = AnonContext::new(session);
    census(&limited).await;
    seen.push(randomized(&limited, &target, "", 1).await);
    assert!(seen[0].len() == 2 && seen.iter().all(|files| *files == seen[0]));
    assert_ne!(randomized(&limited, &target, "", 2).await, seen[0]);
}

#[tokio::test]
async fn randomized_columns_keep_their_values_and_lose_their_rows() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let context = context(2);
    census(&context).await;
    // The classes are the same with unchanged columns, because suppression does not depend on the
    // randomized columns.
    let plain = ROLES.replace(" RANDOMIZED WITHIN (sex)", "").replace(" RANDOMIZED", "");
    let as_it_was = scratch.path().join("plain");
    collect(
        &context,
        &format!("ANONYMIZE census TO '{}' {plain}", as_it_was.display()),
    )
    .await;
    randomized(&context, &target, "", 1).await;
    table(&context, "after", &target).await;
    table(&context, "before", &as_it_was).await;
    let count = async |sql: &str| number(&collect(&context, sql).await);
    for column in [
        "occupation",
        "income",
        "sex, race",
        "age, sex, zip, workclass, salary_class",
    ] {
        for (one, other) in [("after", "before"), ("before", "after")] {
            let sql = format!("SELECT count(*) FROM (SELECT {column} FROM {one} EXCEPT SELECT {column} FROM {other})");
            assert_eq!(count(&sql).await, 0.0, "{column}");
        }
    }
    // Before the release, the income revealed the salary class, which is derived from it.
    // Afterwards, the income reveals no more than the shares in each class.
    let low = "SELECT avg(CASE WHEN salary_class = 'up to 50k' THEN 1.0 ELSE 0.0 END) FROM";
    let of_low = |table: &str| format!("{low} {table} WHERE income < 30000");
    let (before, after, all) = (
        count(&of_low("before")).await,
        count(&of_low("after")).await,
        count(&format!("{low} before")).await,
    );
    assert!(before > 0.99 && (after - all).abs() < 0.02, "{before} {after} {all}");
    let manifest = std::fs::read_to_string(target.join("_manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let randomized = manifest["randomized"].as_array().unwrap();
    let within: Vec<&str> = randomized.iter().map(|c| c["within"].as_str().unwrap()).collect();
    assert_eq!(within, ["RANDOMIZED", "RANDOMIZED", "RANDOMIZED WITHIN (sex)"]);
    // Race depends little on the classes, so a random permutation of it may reveal as much.
    for column in &randomized[..2] {
        let bits = |name: &str| column[name].as_f64().unwrap();
        assert!(bits("information_after") < bits("information_before"), "{column}");
    }
    let verify = format!(
        "VERIFY '{}/' QUASI IDENTIFIERS (age, sex, zip) SATISFYING k_anonymity(5)",
        target.display()
    );
    collect(&context, &verify).await;
}

/// Adult with a row number and with a separate limit for each row, from 0.08 to 0.99.
const ADULT_WITH_LIMITS: &str = "CREATE TABLE people AS SELECT nr, sex, age, race, education, occupation, \
    0.08 + 0.91 * CAST(nr * 7919 % 1009 AS DOUBLE) / 1009 AS max_leak FROM (SELECT row_number() OVER (ORDER BY sex, age, race, \
    education, occupation) AS nr, sex, age, race, education, occupation FROM adult)";

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn no_row_of_adult_leaks_more_than_its_own_limit() {
    let context = adult(&["sex", "age", "race", "education", "occupation"]).await;
    collect(&context, ADULT_WITH_LIMITS).await;
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let statement = format!(
        "ANONYMIZE people TO '{}' QUASI IDENTIFIERS (sex USING sex, age USING age, race USING race, education USING education) \
         SENSITIVE (occupation USING occupation) KEEP (nr) SATISFYING k_anonymity(4) AND personal_privacy(max_leak) \
         SEARCH USING adaptive_clustering",
        target.display()
    );
    let summary = Numbers::of(&collect(&context, &statement).await);
    assert_eq!(
        (summary.get("rows_out", 0), summary.get("limits_not_met", 0)),
        (30_162.0, 0.0)
    );
    table(&context, "released", &target).await;
    // The share that each released value reveals of each occupation, computed from the hierarchy's
    // three columns.
    let groups = collect(&context, "SELECT * FROM hierarchy_levels('occupation') LIMIT 0").await;
    let names: Vec<String> = groups[0]
        .schema()
        .fields()
        .iter()
        .map(|f| format!("\"{}\"", f.name()))
        .collect();
    assert_eq!(names.len(), 3);
    let (value, group) = (&names[0], &names[1]);
    let tells = format!(
        "SELECT {value} AS own, {value} AS shown, 1.0 AS tells FROM hierarchy_levels('occupation') UNION ALL \
         SELECT {value}, {group}, 1.0 / count(*) OVER (PARTITION BY {group}) FROM hierarchy_levels('occupation') UNION ALL \
         SELECT {value}, '*', 1.0 / 14 FROM hierarchy_levels('occupation')"
    );
    let class = "r.sex = o.sex AND r.age = o.age AND r.race = o.race AND r.education = o.education";
    let leaks = |shown: &str| {
        format!(
            "WITH tells AS ({tells}), rows AS (SELECT r.*, p.occupation AS own, p.max_leak AS max_leak, {shown} AS shown \
             FROM released r JOIN people p ON r.nr = p.nr), \
             classes AS (SELECT sex, age, race, education, shown, count(*) AS n FROM rows GROUP BY 1, 2, 3, 4, 5), \
             sizes AS (SELECT sex, age, race, education, sum(n) AS b FROM classes GROUP BY 1, 2, 3, 4), \
             leaks AS (SELECT r.nr, r.max_leak, sum(o.n * tells) / max(b) AS leak FROM rows r JOIN classes o ON {class} \
             JOIN tells t ON t.own = r.own AND t.shown = o.shown JOIN sizes s ON s.sex = r.sex AND s.age = r.age AND \
             s.race = r.race AND s.education = r.education GROUP BY 1, 2) \
             SELECT count(*), sum(CASE WHEN leak > max_leak + 1e-9 THEN 1 ELSE 0 END) FROM leaks"
        )
    };
    let found = Numbers::of(&collect(&context, &leaks("r.occupation")).await);
    assert_eq!((found.at(0, 0), found.at(1, 0)), (30_162.0, 0.0));
    let found = Numbers::of(&collect(&context, &leaks("p.occupation")).await);
    assert!(
        found.at(1, 0) > 1_000.0,
        "without generalization limits are broken: {}",
        found.at(1, 0)
    );

    let columns = collect(&context, "SELECT * FROM released LIMIT 0").await;
    let columns: Vec<String> = columns[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    assert!(
        !columns.contains(&"max_leak".to_string()),
        "the limits are not released"
    );
    let verify = "VERIFY released QUASI IDENTIFIERS (sex, age, race, education) SENSITIVE (occupation USING occupation) \
        ENTITY (nr) SATISFYING k_anonymity(4) AND personal_privacy(max_leak) AGAINST people";
    let checks = Numbers::of(&collect(&context, verify).await);
    assert!(checks.get("reached", 0) >= 4.0 && checks.get("reached", 1) == 0.0);
}

#[tokio::test]
async fn metrics_count_the_rows_that_were_suppressed_for_their_own_limits() {
    let scratch = tempfile::tempdir().unwrap();
    let context = context(2);
    census(&context).await;
    collect(
        &context,
        "CREATE HIERARCHY occupation FROM 'data/hierarchies/occupation.csv'",
    )
    .await;
    for (search, metric, shown) in [
        ("mondrian", "dm", "sum(f * f) + SUPPRESSED * 30000"),
        ("auto", "dm", "sum(f * f) + SUPPRESSED * 30000"),
        ("adaptive_clustering", "c_avg", "sum(f) / CAST(count(*) AS DOUBLE) / 5"),
    ] {
        let target = scratch.path().join(format!("{search}_{metric}"));
        let roles = "(SELECT age, zip, sex, occupation, CASE WHEN age % 3 = 0 THEN 0.01 ELSE 1.0 END AS max_leak FROM census \
                     WHERE occupation IS NOT NULL) TO 'TARGET' QUASI IDENTIFIERS (age USING age, zip USING zip, sex) \
                     SENSITIVE (occupation USING occupation) SATISFYING k_anonymity(5) AND personal_privacy(max_leak) \
                     SUPPRESSING AT MOST 90 PERCENT";
        let roles = roles.replace("TARGET", &target.display().to_string());
        let statement = format!("ANONYMIZE {roles} MINIMIZING {metric} SEARCH USING {search}");
        let summary = Numbers::of(&collect(&context, &statement).await);
        let suppressed = summary.get("suppressed", 0);
        assert!(suppressed > 1000.0, "{search}: {suppressed}");
        let released = format!("{search}_{metric}");
        table(&context, &released, &target).await;
        let rows = summary.get("rows_in", 0);
        let shown = shown
            .replace("SUPPRESSED", &suppressed.to_string())
            .replace("30000", &rows.to_string());
        let recounted = format!("SELECT {shown} FROM (SELECT count(*) AS f FROM {released} GROUP BY age, zip, sex)");
        let recounted = number(&collect(&context, &recounted).await);
        let value = summary.get("value", 0);
        assert!(
            (value - recounted).abs() <= 1e-9 * recounted,
            "{search}: {value}, not {recounted}"
        );
        let manifest = std::fs::read_to_string(target.join("_manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["metrics"][metric].as_f64(), Some(value));
        assert!(manifest["metrics"]["glm"].as_f64().unwrap() >= suppressed / rows);
    }
}
