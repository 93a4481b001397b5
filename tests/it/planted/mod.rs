//! Tests violations planted in copies of a release. VERIFY detects each violation by the check for
//! its kind, and passes the untouched release.
//!
//! After a change, the copy is sealed again: its manifest gets the correct sizes and checksums of
//! the files. Therefore, no violation is detected by a checksum alone, except violations of the
//! files themselves.

mod folder;
mod manifest;
mod scene;
mod untouched;

use crate::common::{collect, context};
use anonsql::internal::folder::SuppressedRows;
use anonsql::internal::generate::{GeneratedTable, generate};
use scene::{HIERARCHIES, ROLES, Row, Rows, Scene};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

const ROWS: &str = "rows as _manifest.json says";
const DM: &str = "dm as _manifest.json says";
const READ: &str = "rows read as _manifest.json says";
const CLASSES: &str = "classes as _manifest.json says";
const SMALLEST: &str = "smallest class as _manifest.json says";
const STARRED: &str = "starred rows, at least as many as _manifest.json says";
const SOURCE: &str = "rows of the source as _manifest.json says";
const FILES: &str = "files as _manifest.json says";
const UNNAMED: &str = "files that _manifest.json does not name";
const COLUMNS: &str = "columns that the statement does not release";
const AGE: &str = "values of age that are not of level 2";
const ZIP: &str = "values of zip that are not of level 2";
const FOLDER: &str = "folder names of zip that are not of level 2";
const ORDER: &str = "rows in the order of the source";
const BEYOND: &str = "rows that the source does not have (age, sex, zip, occupation, salary_class, marital_status)";
const K: &str = "k_anonymity(5)";

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|n| n.to_string()).collect()
}

#[tokio::test]
async fn the_untouched_release_passes() {
    let scene = Scene::new().await;
    assert_eq!(scene.failing("plain", "", &scene.against()).await, set(&[]));
    // A release that the tests only rewrite still passes. Therefore, no violation is detected
    // merely because the tests write releases differently.
    scene.plant("plain", "rewritten", |_| {}).await;
    assert_eq!(scene.failing("rewritten", "", &scene.against()).await, set(&[]));
    for (name, layout, more) in [
        ("starred", "", "SUPPRESSED ROWS STARRED"),
        ("folders", "PARTITIONED BY (zip)", ""),
        ("wards", "PARTITIONED BY (marital_status, sex)", ""),
        ("text", "STORED AS CSV", ""),
        ("pieces", "OPTIONS (rows_per_file 700)", ""),
    ] {
        scene.release(name, layout, ROLES, more).await;
        let failing = scene.failing(name, "", &scene.against()).await;
        assert_eq!(failing, set(&[]), "{name}");
        assert_eq!(scene.failing(name, "", "").await, set(&[]), "{name}");
    }
}

/// Tests violations of class sizes and of sensitive values.
#[tokio::test]
async fn broken_classes_are_found() {
    let scene = Scene::new().await;
    // 1. A class has k - 1 rows, and its other rows are in the class of the other sex.
    scene
        .plant("plain", "k-1", |r| {
            let (small, _) = r.ends();
            let sex = r.column("sex");
            let other = ["female", "male"]
                .into_iter()
                .find(|s| r.rows[small[0]][sex].as_deref() != Some(s));
            r.set(&small[4..], "sex", other);
        })
        .await;
    let found = scene.failing("k-1", "", "").await;
    assert_eq!(found, set(&[K, SMALLEST, DM]));
    assert!(scene.failing("k-1", "", &scene.against()).await.contains(BEYOND));

    // 2. A class has l - 1 values.
    scene
        .plant("plain", "l-1", |r| {
            let (small, _) = r.ends();
            r.set(&small, "occupation", Some("teacher"));
        })
        .await;
    assert_eq!(
        scene.failing("l-1", "", "").await,
        set(&["l_diversity(2) ON occupation"])
    );
    assert_eq!(
        scene.failing("l-1", "p_sensitive(2) ON occupation", "").await,
        set(&["p_sensitive(2) ON occupation"])
    );

    // 3. Two rows with a NULL age form their own class, which is too small.
    scene
        .plant("plain", "null", |r| {
            let (_, large) = r.ends();
            r.set(&large[..2], "age", None);
        })
        .await;
    assert_eq!(
        scene.failing("null", "", "").await,
        set(&[K, SMALLEST, CLASSES, DM, "k_anonymity(20) ON (age, zip)"])
    );

    // 4. A group by a subset of the quasi-identifiers (age and zip) is too small. It consists of a
    // single class, which has enough rows for a class but too few for such a group.
    scene
        .plant("plain", "subset", |r| {
            let all = r.classes(&["age", "sex", "zip"]);
            let (_, class) = all.iter().find(|(_, rows)| (5..20).contains(&rows.len())).unwrap();
            r.set(class, "age", Some("0-9"));
        })
        .await;
    assert_eq!(
        scene.failing("subset", "", "").await,
        set(&["k_anonymity(20) ON (age, zip)"])
    );

    // 5. to 14. A class has only one salary class, which violates every model of the shares of
    // values. The bounds are close to the values of the untouched release.
    scene
        .plant("plain", "skewed", |r| {
            let (small, _) = r.ends();
            r.set(&small, "salary_class", Some("over 50k"));
        })
        .await;
    for (model, arguments) in [
        ("t_closeness", ""),
        ("t_closeness", ", ordered"),
        ("delta_disclosure", ""),
        ("beta_likeness", ""),
        ("alpha_k", ", 5"),
        ("entropy_l_diversity", ""),
        ("recursive_l_diversity", ", 2"),
    ] {
        let given = match model {
            "t_closeness" | "alpha_k" => 1.0,
            "entropy_l_diversity" => 1.0,
            _ => 1e6,
        };
        let at = |bound: f64| format!("{model}({bound}{arguments}) ON salary_class");
        // Rows were suppressed, so only the source has the distribution of the whole table.
        let more = match model {
            "t_closeness" | "delta_disclosure" | "beta_likeness" => scene.against(),
            _ => String::new(),
        };
        let reached = scene.reached("plain", &at(given), &more).await;
        // The bound is a tenth above the untouched release, and the skewed class exceeds it.
        let bound = match model {
            "entropy_l_diversity" => 1.0 + (reached - 1.0) * 0.9,
            "alpha_k" => (reached + 1.0) / 2.0,
            _ => (reached * 1.1).min(given),
        };
        let satisfying = at((bound * 1e6).round() / 1e6);
        assert_eq!(
            scene.failing("plain", &satisfying, &more).await,
            set(&[]),
            "{satisfying} holds"
        );
        let mut found = scene.failing("skewed", &satisfying, &more).await;
        assert_eq!(found.remove(BEYOND), !more.is_empty(), "{satisfying}: {found:?}");
        assert_eq!(found.len(), 1, "{satisfying}: {found:?}");
        assert!(found.first().unwrap().starts_with(model), "{satisfying}: {found:?}");
    }
    // The bound of this model is at most -ln q, so it needs its own release.
    let likeness = "enhanced_beta_likeness(1) ON salary_class";
    let roles = ROLES.replace("k_anonymity(5) AND", &format!("k_anonymity(5) AND {likeness} AND"));
    scene.release("alike", "", &roles, "").await;
    assert_eq!(scene.failing("alike", likeness, &scene.against()).await, set(&[]));
    scene
        .plant("alike", "unlike", |r| {
            let (small, _) = r.ends();
            r.set(&small, "salary_class", Some("over 50k"));
        })
        .await;
    let found = scene.failing("unlike", likeness, &scene.against()).await;
    assert_eq!(found, set(&[likeness, BEYOND]));
    for (model, required) in [
        ("max_risk(0.2)", &["max_risk(0.2)"][..]),
        (
            "alpha_k(1, 5) ON occupation",
            &[
                "alpha_k(1, 5) ON occupation",
                "alpha_k(1, 5) ON occupation: the size of the smallest class",
            ],
        ),
    ] {
        assert_eq!(scene.failing("plain", model, "").await, set(&[]));
        let found = scene.failing("k-1", model, "").await;
        assert_eq!(found, set(&[required, &[SMALLEST, DM]].concat()));
    }

    // 15. The number of classes per row is too large: every class has only its five remaining rows,
    // and no class is below k.
    scene
        .plant("plain", "thin", |r| {
            let all = r.classes(&["age", "sex", "zip"]);
            let gone: BTreeSet<usize> = all.iter().flat_map(|(_, rows)| rows[5..].to_vec()).collect();
            let mut i = 0;
            r.rows.retain(|_| {
                i += 1;
                !gone.contains(&(i - 1))
            });
        })
        .await;
    let average = scene.reached("plain", "average_risk(1)", "").await;
    let satisfying = format!("average_risk({})", (average * 1.01 * 1e6).round() / 1e6);
    assert_eq!(scene.failing("plain", &satisfying, "").await, set(&[]));
    assert!(scene.failing("thin", &satisfying, "").await.contains(&satisfying));
}

/// Tests violations of rows, of files and of the manifest itself.
#[tokio::test]
async fn what_the_manifest_does_not_say_is_found() {
    let scene = Scene::new().await;
    // 16. A copied file doubles every class.
    scene.copy("plain", "doubled");
    let file = scene.path("doubled").join("part-00000.parquet");
    std::fs::copy(&file, file.with_file_name("part-00001.parquet")).unwrap();
    let found = scene.failing("doubled", "", &scene.against()).await;
    assert_eq!(found, set(&[ROWS, READ, SMALLEST, DM, UNNAMED, BEYOND]));

    // 17. The file itself contains all rows twice, and its manifest is adjusted: only the source
    // reveals it.
    scene.plant("plain", "twice", |r| r.rows.extend(r.rows.clone())).await;
    scene.seal("twice", |m| {
        (m.rows_out, m.rows_in) = (2 * m.rows_out, m.rows_suppressed.map(|n| 2 * m.rows_out + n));
        m.reached_k = m.reached_k.map(|k| 2 * k);
        let (rows, suppressed) = (m.rows_out as f64, m.rows_suppressed.unwrap() as f64);
        let dm = m.metrics.get_mut("dm").unwrap();
        let kept = *dm - suppressed * (rows / 2.0 + suppressed);
        *dm = 4.0 * kept + suppressed * (rows + suppressed);
    });
    assert_eq!(scene.failing("twice", "", "").await, set(&[]));
    assert_eq!(
        scene.failing("twice", "", &scene.against()).await,
        set(&[BEYOND, SOURCE])
    );

    // 18. A row is missing.
    scene
        .plant("plain", "removed", |r| {
            let (_, large) = r.ends();
            r.rows.remove(large[0]);
        })
        .await;
    assert_eq!(
        scene.failing("removed", "", &scene.against()).await,
        set(&[ROWS, READ, DM])
    );

    // 19. The manifest promises a greater k than the release has.
    scene.copy("plain", "boast");
    scene.seal("boast", |m| m.reached_k = m.reached_k.map(|k| k + 1));
    assert_eq!(scene.failing("boast", "", "").await, set(&[SMALLEST]));

    // 20. The manifest gives too few suppressed rows.
    scene.copy("plain", "fewer");
    scene.seal("fewer", |m| m.rows_suppressed = m.rows_suppressed.map(|n| n - 1));
    assert_eq!(scene.failing("fewer", "", "").await, set(&[READ, DM]));

    // 21. There is an additional column.
    scene
        .plant("plain", "column", |r| {
            r.header.push("ssn".into());
            for (i, row) in r.rows.iter_mut().enumerate() {
                row.push(Some(format!("9{i:08}")));
            }
        })
        .await;
    assert_eq!(scene.failing("column", "", &scene.against()).await, set(&[COLUMNS]));

    // 22. A file has other bytes with the same rows, and then a file is missing.
    scene.plant("plain", "bytes", |_| {}).await;
    scene.manifest("plain").write(&scene.path("bytes")).unwrap();
    assert_eq!(scene.failing("bytes", "", &scene.against()).await, set(&[FILES]));
    scene.release("pieces", "OPTIONS (rows_per_file 700)", ROLES, "").await;
    std::fs::remove_file(scene.path("pieces").join("part-00001.parquet")).unwrap();
    let found = scene.failing("pieces", "", "").await;
    assert!(found.is_superset(&set(&[FILES, ROWS, READ])), "{found:?}");

    // 23. A kept value differs from the value in the source.
    scene
        .plant("plain", "kept", |r| {
            let (small, large) = r.ends();
            let column = r.column("marital_status");
            let value = Some("married to the king".to_string());
            r.rows[small[0]][column].clone_from(&value);
            r.rows[large[0]][column] = value;
        })
        .await;
    assert_eq!(scene.failing("kept", "", "").await, set(&[]));
    assert_eq!(scene.failing("kept", "", &scene.against()).await, set(&[BEYOND]));
}

/// Tests violations of suppressed rows that stay in the release.
#[tokio::test]
async fn suppressed_rows_are_no_class() {
    let scene = Scene::new().await;
    scene.release("starred", "", ROLES, "SUPPRESSED ROWS STARRED").await;
    assert!(scene.manifest("starred").rows_suppressed >= Some(20));

    // 24. Suppressed rows are counted as a class, which would be a large one.
    scene.copy("starred", "class");
    scene.seal("class", |m| {
        m.suppressed_rows = SuppressedRows::Dropped;
        m.rows_suppressed = Some(0);
    });
    let found = scene.failing("class", "k_anonymity(5)", "").await;
    assert_eq!(found, set(&[CLASSES, DM, AGE, ZIP]));

    // 25. A class is hidden among the suppressed rows.
    let hide = |r: &mut Rows| {
        let (small, _) = r.ends();
        for column in ["age", "sex", "zip"] {
            r.set(&small, column, Some("*"));
        }
        for column in ["occupation", "salary_class"] {
            r.set(&small, column, None);
        }
    };
    scene.plant("starred", "hidden", hide).await;
    let found = scene.failing("hidden", "k_anonymity(5)", "").await;
    assert_eq!(found, set(&[AGE, ZIP]));

    // 26. Suppressed rows keep their sensitive values.
    scene
        .plant("starred", "kept", |r| {
            let age = r.column("age");
            let starred = (0..r.rows.len()).filter(|i| r.rows[*i][age].as_deref() == Some("*"));
            let starred: Vec<usize> = starred.take(3).collect();
            r.set(&starred, "occupation", Some("teacher"));
        })
        .await;
    let found = scene.failing("kept", "k_anonymity(5)", "").await;
    assert!(found.contains(STARRED), "{found:?}");
}

/// Tests raw values in place of labels.
#[tokio::test]
async fn raw_values_are_found() {
    let scene = Scene::new().await;
    // 27. A column contains raw values: the zip of one class was never generalized.
    scene
        .plant("plain", "raw", |r| {
            let (_, large) = r.ends();
            r.set(&large, "zip", Some("40213"));
        })
        .await;
    for more in ["", &scene.against()] {
        let found = scene.failing("raw", "k_anonymity(5)", more).await;
        assert!(found.contains(ZIP), "{found:?}");
    }
    assert_eq!(scene.failing("raw", "k_anonymity(5)", "").await, set(&[ZIP]));

    // 28. The name of a folder contains a raw value.
    scene.release("folders", "PARTITIONED BY (zip)", ROLES, "").await;
    scene.copy("folders", "folder");
    let folders = std::fs::read_dir(scene.path("folder")).unwrap();
    let mut folders: Vec<PathBuf> = folders.map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    std::fs::rename(&folders[0], folders[0].with_file_name("zip=40213")).unwrap();
    let renamed = folders[0].file_name().unwrap().to_string_lossy().into_owned();
    scene.seal_renamed("folder", &renamed, "zip=40213");
    assert_eq!(scene.failing("folder", "k_anonymity(5)", "").await, set(&[FOLDER]));
    let found = scene.failing("folder", "k_anonymity(5)", &scene.against()).await;
    assert_eq!(found, set(&[FOLDER, BEYOND]));

    // A user who has neither manifest nor source, but knows the required levels, detects it too.
    std::fs::remove_file(scene.path("folder").join("_manifest.json")).unwrap();
    let sql = format!(
        "VERIFY '{}' QUASI IDENTIFIERS (age, sex, zip USING zip LEVELS 1 TO 2) SATISFYING k_anonymity(5)",
        scene.path("folder").display()
    );
    let found = scene.failing_of(&sql).await;
    assert_eq!(found, set(&["folder names of zip that are not of levels 1 to 2"]));
}

/// 29. Rows are in the order of the source.
#[tokio::test]
async fn the_order_of_the_source_is_found() {
    let scene = Scene::new().await;
    let source = scene.path("census.parquet");
    let ordered = context(1);
    collect(&ordered, HIERARCHIES).await;
    let sql = "SELECT generalize('age', age, 2) AS age, sex, generalize('zip', zip, 2) AS zip, occupation, salary_class, \
         marital_status FROM census";
    collect(
        &ordered,
        &format!(
            "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION '{}'",
            source.display()
        ),
    )
    .await;
    let source = Rows::of(&collect(&ordered, sql).await);
    scene
        .plant("plain", "ordered", |r| {
            let columns: Vec<&str> = source.header.iter().map(String::as_str).collect();
            let mut left: HashMap<Row, Vec<Row>> = HashMap::new();
            for row in std::mem::take(&mut r.rows) {
                left.entry(r.key(&row, &columns)).or_default().push(row);
            }
            let rows = source.rows.iter().filter_map(|row| left.get_mut(row)?.pop());
            r.rows = rows.collect();
        })
        .await;
    assert_eq!(scene.failing("ordered", "", "").await, set(&[]));
    assert_eq!(scene.failing("ordered", "", &scene.against()).await, set(&[ORDER]));
}

/// 30. and 31. Models count people instead of rows, and a population instead of the sample.
#[tokio::test]
async fn people_are_counted_not_rows() {
    let scene = Scene::new().await;
    let patients = scene.path("patients.parquet");
    generate(GeneratedTable::Patients, 4_000, 7, &patients).unwrap();
    std::fs::write(scene.path("secret"), "a long enough secret for a test").unwrap();
    let sql = format!(
        "ANONYMIZE '{}' TO '{}' IDENTIFIERS (name, birth_year, visited_at, cost, patient_id HASH WITH SECRET 'file:{}') \
         QUASI IDENTIFIERS (sex, zip USING zip) SENSITIVE (diagnosis) KEEP (ward, insurer) ENTITY (patient_id) \
         SATISFYING k_anonymity(5) SUPPRESSING AT MOST 20 PERCENT AT NODE (sex 0, zip 2)",
        patients.display(),
        scene.path("visits").display(),
        scene.path("secret").display()
    );
    collect(&scene.context, &sql).await;
    let manifest = std::fs::read_to_string(scene.path("visits").join("_manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(
        manifest["reached_k"].as_f64(),
        manifest["checks"][0]["reached"].as_f64()
    );
    let verify = |name: &str, entity: &str| {
        format!(
            "VERIFY '{}' QUASI IDENTIFIERS (sex, zip) SENSITIVE (diagnosis) {entity} SATISFYING k_anonymity(5) AGAINST '{}'",
            scene.path(name).display(),
            patients.display()
        )
    };
    assert_eq!(
        scene.failing_of(&verify("visits", "ENTITY (patient_id)")).await,
        set(&[])
    );
    scene
        .plant("visits", "one", |r| {
            let classes = r.classes(&["sex", "zip"]);
            let person = r.column("patient_id");
            let id = r.rows[classes[0].1[0]][person].clone();
            r.set(&classes[0].1, "patient_id", id.as_deref());
        })
        .await;
    // The hashes of the release show how many people a class has, also if the statement counts
    // rows.
    assert_eq!(scene.failing_of(&verify("one", "")).await, set(&[SMALLEST]));
    assert_eq!(
        scene.failing_of(&verify("one", "ENTITY (patient_id)")).await,
        set(&[K, SMALLEST])
    );

    // The population is the whole census. Nobody in it belongs to the planted class.
    let population = format!("POPULATION '{}'", scene.path("census.parquet").display());
    assert_eq!(scene.failing("plain", "k_map(5)", &population).await, set(&[]));
    scene
        .plant("plain", "nobody", |r| {
            let (small, _) = r.ends();
            r.set(&small, "age", Some("990-999"));
        })
        .await;
    assert_eq!(
        scene.failing("nobody", "k_map(5)", &population).await,
        set(&["k_map(5)"])
    );
}
