//! Tests that a differentially private release reveals nothing about rows that were not drawn, or
//! about classes that are too small.

use super::publish::Placed;
use super::run::{release_rows, release_to};
use super::testing::{batch, job, source, target};
use crate::base::catalogue::{Call, Value};
use crate::data::model::{SampleKey, Sampling, sampled};
use crate::method::search::Progress;
use crate::method::warning::Warning;
use crate::release::job::{Constraint, Existing, Job, Scope};
use crate::release::observe::Release;
use crate::release::observe::{Observer, Phase};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Person = (i64, &'static str, &'static str);

/// Everything that an observer receives, with the counters of the phases.
#[derive(Default)]
struct Told {
    said: Mutex<Vec<String>>,
    counters: Mutex<Vec<(Phase, Arc<AtomicU64>)>>,
}

impl Told {
    fn say(&self, what: String) {
        self.said.lock().push(what);
    }
}

impl Observer for Told {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        self.say(format!("begin {}", phase.name()));
        let counter = Arc::<AtomicU64>::default();
        self.counters.lock().push((phase, Arc::clone(&counter)));
        counter
    }

    fn expects(&self, phase: Phase, rows: u64) {
        self.say(format!("{} expects {rows}", phase.name()));
    }

    fn searched(&self, progress: Progress) {
        self.say(format!("{progress:?}"));
    }

    fn warned(&self, warning: &Warning) {
        self.say(format!("{warning:?}"));
    }

    fn advised(&self, advice: &str) {
        self.say(advice.into());
    }

    fn released(&self, release: &Release, target: Option<&Path>) {
        self.say(format!("{release:?} {}", target.is_some()));
    }

    fn end(&self, phase: Phase) {
        self.say(format!("end {}", phase.name()));
    }
}

/// Returns the request for a sample of these people by decade.
fn request(people: &[Person], folder: &Path) -> Job {
    let mut sampling = Sampling::new(0.5, 1e-3, None).unwrap();
    sampling.key = SampleKey::Given([7; 32]);
    let mut job = job();
    job.roles.sensitive.clear();
    job.input.source = source(batch(people));
    // The content of the input file depends on the people.
    let file = folder.join("people.csv");
    std::fs::write(&file, format!("{people:?}")).unwrap();
    job.input.source.files = vec![file];
    job.roles
        .quasi_identifiers
        .iter_mut()
        .for_each(|q| q.levels = Some((1, 1)));
    job.guarantees.constraints = vec![Constraint {
        call: Call::of("differential_privacy", vec![Value::Real(0.5), Value::Real(1e-3)]),
        model: sampled(sampling),
        meaning: "",
        attribute: None,
        scope: Scope::All,
    }];
    job
}

/// Returns the released rows, and everything that a release reveals: the bytes of every file, the
/// figures, and the events.
async fn release(people: &[Person]) -> (u64, BTreeMap<String, Vec<u8>>) {
    let scratch = tempfile::tempdir().unwrap();
    let mut said = BTreeMap::new();
    let mut rows = 0;
    for existing in [Existing::Fail, Existing::Overwrite] {
        let mut job = request(people, scratch.path());
        let target = target(&scratch.path().join("out"));
        job.output.target = Some(crate::release::job::Target { existing, ..target });
        let told = Arc::new(Told::default());
        let observer: Arc<dyn Observer> = Arc::clone(&told) as _;
        let Placed::Published(published) = release_to(&Arc::new(job), &observer).await.unwrap() else {
            panic!("a release");
        };
        rows = published.release.rows_out;
        for file in std::fs::read_dir(scratch.path().join("out")).unwrap() {
            let path = file.unwrap().path();
            said.insert(
                format!("{existing:?} {:?}", path.file_name()),
                std::fs::read(&path).unwrap(),
            );
        }
        said.insert(format!("{existing:?} events"), events(&told));
    }
    let told = Arc::new(Told::default());
    let observer: Arc<dyn Observer> = Arc::clone(&told) as _;
    let handed = release_rows(&Arc::new(request(people, scratch.path())), &observer)
        .await
        .unwrap();
    assert_eq!(handed.release.rows_out, rows);
    said.insert("rows".into(), format!("{:?}", handed.release).into_bytes());
    said.insert("events".into(), events(&told));
    (rows, said)
}

fn events(told: &Told) -> Vec<u8> {
    let counters = told.counters.lock();
    let counted = counters
        .iter()
        .map(|(phase, rows)| format!("{}: {}", phase.name(), rows.load(Ordering::Relaxed)));
    let said = told.said.lock();
    said.iter()
        .cloned()
        .chain(counted)
        .collect::<Vec<_>>()
        .join("\n")
        .into_bytes()
}

/// Tests neighbouring tables whose common rows have the same draws. No byte differs if the
/// additional row is not drawn, or is in a class that is too small.
#[tokio::test]
async fn what_is_said_follows_from_the_released_classes_alone() {
    let mut found: BTreeMap<u64, Vec<BTreeMap<String, Vec<u8>>>> = BTreeMap::new();
    for size in 300..312 {
        for (age, few) in [(31, 0), (39, 1), (34, 2)] {
            // The tables differ in the ages within a decade, in the order of the rows, and in the
            // people of a decade that is never released.
            let mut people: Vec<Person> = (0..size)
                .map(|i| (if i % 3 == 0 { 37 } else { age }, "a", "flu"))
                .collect();
            people.extend((0..few).map(|_| (52, "b", "cold")));
            people.rotate_left(few);
            let (rows, said) = release(&people).await;
            found.entry(rows).or_default().push(said);
        }
    }
    assert!(
        found.len() > 1 && found.values().any(|same| same.len() > 3),
        "both kinds of neighbours"
    );
    let mut files = 0;
    for (rows, same) in &found {
        for other in &same[1..] {
            for (name, bytes) in other {
                assert!(same[0].get(name) == Some(bytes), "{name} of {rows} rows tells more");
                files += 1;
            }
            assert_eq!(same[0].len(), other.len());
        }
    }
    assert!(files > 30, "{files}");
}

/// Tests that a table in which no class is large enough is released without rows, like an empty
/// table.
#[tokio::test]
async fn too_few_people_are_nobody() {
    let nobody = release(&[]).await;
    assert_eq!(nobody.0, 0);
    for few in [1, 5, 20] {
        let people = vec![(52, "b", "cold"); few];
        assert!(release(&people).await == nobody, "{few}");
    }
}
