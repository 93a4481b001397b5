//! Random histories of batches, with failures at random moments of their runs.

use super::{Model, check, release};
use crate::common::{collect, context};
use anonsql::Anonymized;
use anonsql::error::ErrorKind;
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn batch(random: &mut impl Rng, most: usize) -> RecordBatch {
    let rows = random.random_range(0..=most);
    let illnesses = ["flu", "cold", "ache", "gout"];
    let zips = ["1010", "1020", "2030"];
    let spread = random.random_range(1..=40);
    let ages: Int64Array = (0..rows).map(|_| Some(20 + random.random_range(0..spread))).collect();
    let zip: StringArray = (0..rows).map(|_| Some(zips[random.random_range(0..3)])).collect();
    let kinds = random.random_range(1..=4);
    let illness: StringArray = (0..rows)
        .map(|_| Some(illnesses[random.random_range(0..kinds)]).filter(|_| random.random_range(0..20) > 0))
        .collect();
    let pay: Int64Array = (0..rows).map(|_| Some(random.random_range(0..6) * 100)).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("age", Arc::new(ages) as ArrayRef, true),
        ("zip", Arc::new(zip) as ArrayRef, true),
        ("illness", Arc::new(illness) as ArrayRef, true),
        ("pay", Arc::new(pay) as ArrayRef, true),
    ])
    .unwrap()
}

fn models(random: &mut impl Rng) -> Vec<Model> {
    let mut models = vec![Model::K(random.random_range(2..4))];
    models.extend(match random.random_range(0..6) {
        0 => None,
        1 => Some(Model::Distinct(2)),
        2 => Some(Model::Entropy([1.3, 1.8][random.random_range(0..2)])),
        3 => Some(Model::Recursive(3.0, 2)),
        4 => Some(Model::Categorical([0.2, 0.3, 0.4][random.random_range(0..3)])),
        _ => Some(Model::Ordered([0.1, 0.15, 0.25][random.random_range(0..3)])),
    });
    models
}

/// The number of runs for each outcome, over all histories.
#[derive(Debug, Default)]
struct Told {
    added: u64,
    with_waiting: u64,
    raised: u64,
    all_wait: u64,
    infeasible: u64,
    cancelled: u64,
    compared: u64,
}

/// Runs one history in `folder`.
async fn history(seed: u64, folder: &Path, told: &mut Told) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let context = context(random.random_range(1..=2));
    collect(
        &context,
        "CREATE HIERARCHY age AS INTERVALS (5, 10, 20); CREATE HIERARCHY zip AS PREFIX (2)",
    )
    .await;
    let models = models(&mut random);
    let compares = models
        .iter()
        .any(|m| matches!(m, Model::Categorical(_) | Model::Ordered(_)));
    let satisfying: Vec<String> = models.iter().map(|m| m.sql()).collect();
    let target = folder.join("grown");
    let statement = format!(
        "ANONYMIZE b TO '{}' APPEND QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness, pay) \
         SATISFYING {} SUPPRESSING AT MOST {} PERCENT",
        target.display(),
        satisfying.join(" AND "),
        [0, 20, 60, 100][random.random_range(0..4)]
    );
    let mut is_cancelled = false;
    for night in 0..random.random_range(2..6) {
        let rows = batch(&mut random, if night == 0 { 60 } else { 40 });
        let read = rows.num_rows() as u64;
        let _ = context.session().deregister_table("b");
        context.session().register_batch("b", rows).unwrap();
        let before = target.exists().then(|| release(&target));
        let stranger = target.join("notes.txt");
        let fails = before.is_some() && random.random_range(0..10) == 0;
        if fails {
            std::fs::write(&stranger, "mine").unwrap();
        }
        let patience = match random.random_range(0..5) {
            0 => Duration::from_micros(random.random_range(0..60_000)),
            _ => Duration::from_secs(600),
        };
        let ended = tokio::time::timeout(patience, context.anonymize(&statement)).await;
        if fails {
            assert!(
                std::fs::remove_file(&stranger).is_ok(),
                "a file that is nobody's to remove"
            );
        }
        let is_old = |folder: &Path| match &before {
            None => !folder.exists(),
            Some(before) => release(folder) == *before,
        };
        match ended {
            Err(_) => {
                told.cancelled += 1;
                is_cancelled = true;
                // A step that already runs on another thread may still finish.
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            Ok(Ok(Anonymized::Files {
                release: figures,
                manifest,
                ..
            })) => {
                assert!(!fails);
                let (now, batches) = check(&target, &models);
                let mut told_of = manifest.as_ref().clone();
                told_of.sha256.clone_from(&now.sha256);
                assert_eq!(now, told_of);
                let growth = figures.growth.clone().unwrap();
                assert_eq!((growth.rows, growth.batches), (now.rows_out, batches.len() as u64));
                assert_eq!(figures.rows_out + figures.rows_suppressed.unwrap(), read);
                if let Some((manifest, rows)) = &before {
                    assert_eq!(batches[..rows.len()], rows[..], "what stands stays as it is");
                    assert_eq!(batches.len(), rows.len() + 1);
                    assert_eq!(now.batches.last().unwrap().after.as_ref(), Some(&manifest.sha256));
                    told.added += 1;
                    told.with_waiting += u64::from(figures.rows_suppressed != Some(0));
                    told.raised += u64::from(now.batches.last().unwrap().node != now.node);
                    told.compared += u64::from(compares);
                }
            }
            Ok(Ok(Anonymized::Waiting { rows, .. })) => {
                assert!(rows == read && before.is_some() && is_old(&target));
                told.all_wait += 1;
            }
            Ok(Ok(_)) => panic!("neither files nor waiting rows"),
            Ok(Err(e)) => {
                assert!(e.kind() == ErrorKind::Infeasible || fails, "{e}\n{statement}");
                assert!(is_old(&target), "{e}");
                told.infeasible += 1;
            }
        }
        if target.exists() {
            check(&target, &models);
        }
    }
    if target.exists() {
        let verify = format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness, pay) SATISFYING {}",
            target.display(),
            satisfying.join(" AND ")
        );
        for batch in collect(&context, &verify).await {
            let ok = batch.column_by_name("ok").unwrap().as_boolean();
            assert!(ok.iter().all(|ok| ok != Some(false)), "seed {seed}: {batch:?}");
        }
    }
    let hidden = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name());
    let hidden: BTreeMap<_, ()> = hidden.filter(|name| name != "grown").map(|name| (name, ())).collect();
    assert!(hidden.is_empty() || is_cancelled, "{hidden:?}");
}

/// After every run, the models hold over all rows released so far and over each batch alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_each_run_the_models_hold_over_all_rows_and_over_each_batch() {
    let mut told = Told::default();
    for seed in 0..200 {
        let scratch = tempfile::tempdir().unwrap();
        history(seed, scratch.path(), &mut told).await;
    }
    println!("{told:?}");
    assert!(
        told.added > 100 && told.with_waiting > 20 && told.raised > 5,
        "{told:?}"
    );
    assert!(
        told.all_wait > 5 && told.infeasible > 20 && told.cancelled > 20 && told.compared > 10,
        "{told:?}"
    );
}
