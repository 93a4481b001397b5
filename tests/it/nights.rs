//! Tests one job on thirty nights. Each night applies the release of the previous night to new
//! data. On some nights, drift of every kind is planted. The run reports each drift with its
//! counts, the exit code states what to do, a night that fails publishes nothing, and every release
//! is verified.

use crate::common::anonsql;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

const CITIES: [&str; 4] = ["Aachen", "Bonn", "Celle", "Dueren"];
/// The planted city. Only the extended hierarchies contain it, and no message may show it.
const UNKNOWN: &str = "Xanadu";
/// An age far above all others.
const OLD: u64 = 95;

/// The deviations that are planted in the data of a night.
#[derive(Clone, Copy, Default)]
struct Planted {
    /// The number of people who live in the planted city.
    unknown: usize,
    /// The number of people who are much older than all others, each alone with a region.
    old: usize,
    /// True if the column of names is missing.
    nameless: bool,
    /// True if the column of visits, which is released, contains texts.
    visits_as_text: bool,
}

/// Returns the people of a night: five of each decade, city and sex. Their ages within the decade
/// differ from night to night.
fn people(night: u64, planted: Planted) -> String {
    let mut seed = night.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut rows = vec![];
    for decade in 2..8 {
        for city in CITIES {
            for sex in ["f", "m"] {
                rows.extend((0..5).map(|_| (decade * 10 + random(10), city, sex, random(9))));
            }
        }
    }
    rows.extend((0..planted.unknown).map(|_| (33, UNKNOWN, "f", 1)));
    rows.extend((0..planted.old).map(|i| (OLD, CITIES[i % 2 * 3], ["f", "m"][i / 2 % 2], 1)));
    let mut text = match planted.nameless {
        true => "age,city,sex,visits\n".to_string(),
        false => "name,age,city,sex,visits\n".to_string(),
    };
    for (i, (age, city, sex, visits)) in rows.into_iter().enumerate() {
        if !planted.nameless {
            write!(text, "person{i},").unwrap();
        }
        let visits = match planted.visits_as_text {
            true => format!("about {visits}"),
            false => visits.to_string(),
        };
        writeln!(text, "{age},{city},{sex},{visits}").unwrap();
    }
    text
}

/// Returns the hierarchies of the job. If `knows`, they also contain the planted city.
fn hierarchies(knows: bool) -> String {
    let more = if knows {
        format!(", ('{UNKNOWN}', 'south')")
    } else {
        String::new()
    };
    format!(
        "CREATE HIERARCHY age AS INTERVALS (10, 20, 40);\n\
         CREATE HIERARCHY city AS VALUES ('Aachen', 'north'), ('Bonn', 'north'), ('Celle', 'south'), ('Dueren', 'south'){more};\n"
    )
}

/// Returns the job of a night, which replaces the release of the night before.
fn job(knows: bool, suppressing: &str, choice: &str) -> String {
    format!(
        "{}ANONYMIZE 'people.csv' TO 'release' OVERWRITE IDENTIFIERS (name) \
         QUASI IDENTIFIERS (age USING age, city USING city LEVELS 1 TO 2, sex) KEEP (visits) \
         SATISFYING k_anonymity(5){suppressing} {choice}",
        hierarchies(knows)
    )
}

/// Runs a script in a folder as a scheduler does.
fn run(folder: &Path, script: &str, more: &[&str]) -> Output {
    fs::write(folder.join("job.sql"), script).unwrap();
    let mut command = anonsql(folder);
    command.args(["--log", "json", "--format", "ndjson", "--threads", "2"]);
    command.args(more).args(["-f", "job.sql"]).output().unwrap()
}

/// Returns the events of a run.
fn events(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the events about drift: the kind of each with its counts.
fn drift(output: &Output) -> Vec<(String, BTreeMap<String, u64>)> {
    let counts = |event: &Value| {
        let counted = ["values", "classes", "rows", "allowed"];
        let counted = counted
            .iter()
            .filter_map(|name| Some((name.to_string(), event[*name].as_u64()?)));
        counted.collect()
    };
    let all = events(output).into_iter().filter(|event| event["event"] == "drift");
    all.map(|event| (event["kind"].as_str().unwrap().to_string(), counts(&event)))
        .collect()
}

/// Returns the bytes of every file of the release, by name.
fn release(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(files) = fs::read_dir(folder.join("release")) else {
        return BTreeMap::new();
    };
    let read = |path: std::path::PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    files.map(|file| read(file.unwrap().path())).collect()
}

const VERIFY: &str = "VERIFY 'release' QUASI IDENTIFIERS (age, city, sex) SATISFYING k_anonymity(5)";

/// The expected result of a night.
struct Expected {
    code: i32,
    /// The kinds of drift, in the order in which they are found, each with its counts.
    drift: Vec<(&'static str, Vec<(&'static str, u64)>)>,
    /// A part of the error's text.
    error: &'static str,
}

fn released(drift: Vec<(&'static str, Vec<(&'static str, u64)>)>) -> Expected {
    Expected {
        code: 0,
        drift,
        error: "",
    }
}

fn refused(code: i32, drift: Vec<(&'static str, Vec<(&'static str, u64)>)>, error: &'static str) -> Expected {
    Expected { code, drift, error }
}

/// A night: the planted data, whether the hierarchies contain the planted city, the suppression
/// limit, the clause for drift, and the expected result.
type Night = (Planted, bool, &'static str, &'static str, Expected);

const QUIET: Planted = Planted {
    unknown: 0,
    old: 0,
    nameless: false,
    visits_as_text: false,
};

const SOME: &str = " SUPPRESSING AT MOST 3 ROWS";
const REPLAY: &str = "USING MANIFEST 'release'";
const WARN: &str = "USING MANIFEST 'release' ON DRIFT WARN";
const SEARCH: &str = "USING MANIFEST 'release' ON DRIFT SEARCH";
const ANEW: &str = "";

/// Returns the nights with deviations, by number.
fn planted() -> BTreeMap<u64, Night> {
    let unknown = |n| Planted { unknown: n, ..QUIET };
    let old = |n| Planted { old: n, ..QUIET };
    let nameless = Planted {
        nameless: true,
        ..QUIET
    };
    let texts = Planted {
        visits_as_text: true,
        ..QUIET
    };
    let values = |rows| ("values", vec![("values", 1), ("rows", rows)]);
    let classes = |n| ("classes", vec![("classes", n), ("rows", n)]);
    let over = |rows, allowed| ("suppression", vec![("rows", rows), ("allowed", allowed)]);
    let schema = || ("schema", vec![]);
    let city = "hierarchy city does not map 1 values of column city";
    let hierarchy = "hierarchy city differs from the hierarchy of the release";
    BTreeMap::from([
        (0, (QUIET, false, "", ANEW, released(vec![]))),
        // New values.
        (2, (unknown(2), false, "", REPLAY, refused(7, vec![values(2)], city))),
        (3, (unknown(2), false, SOME, WARN, released(vec![values(2)]))),
        (
            4,
            (
                unknown(4),
                false,
                SOME,
                WARN,
                refused(3, vec![values(4), over(4, 3)], "4 rows would have to be"),
            ),
        ),
        (5, (unknown(2), false, "", SEARCH, refused(7, vec![values(2)], city))),
        // Classes below the required size, and suppression.
        (7, (QUIET, false, "", REPLAY, released(vec![]))),
        (
            8,
            (
                old(2),
                false,
                "",
                REPLAY,
                refused(3, vec![classes(2)], "2 of 26 classes (2 rows)"),
            ),
        ),
        (
            9,
            (old(2), false, "", WARN, refused(3, vec![classes(2)], "k_anonymity(5)")),
        ),
        (10, (old(2), false, SOME, REPLAY, released(vec![classes(2)]))),
        (
            12,
            (
                old(4),
                false,
                SOME,
                REPLAY,
                refused(3, vec![classes(4), over(4, 3)], "more than the limit of 3"),
            ),
        ),
        (
            13,
            (old(4), false, SOME, SEARCH, released(vec![classes(4), over(4, 3)])),
        ),
        (14, (QUIET, false, "", ANEW, released(vec![]))),
        // Columns.
        (
            16,
            (
                nameless,
                false,
                "",
                REPLAY,
                refused(7, vec![schema()], "column name is gone"),
            ),
        ),
        (17, (nameless, false, "", WARN, released(vec![schema()]))),
        (
            18,
            (
                QUIET,
                false,
                "",
                REPLAY,
                refused(7, vec![schema()], "column name is new"),
            ),
        ),
        (19, (QUIET, false, "", WARN, released(vec![schema()]))),
        (
            21,
            (
                texts,
                false,
                "",
                REPLAY,
                refused(7, vec![schema()], "visits is Utf8 and was Int64"),
            ),
        ),
        (
            22,
            (
                texts,
                false,
                "",
                WARN,
                refused(7, vec![schema()], "visits is Utf8 and was Int64"),
            ),
        ),
        (23, (texts, false, "", SEARCH, released(vec![schema()]))),
        (24, (QUIET, false, "", SEARCH, released(vec![schema()]))),
        // The hierarchy is extended, as the error about new values advises.
        (
            26,
            (
                unknown(5),
                true,
                "",
                REPLAY,
                refused(7, vec![("hierarchy", vec![])], hierarchy),
            ),
        ),
        (
            27,
            (unknown(5), true, "", SEARCH, released(vec![("hierarchy", vec![])])),
        ),
        (28, (unknown(5), true, "", REPLAY, released(vec![]))),
        (29, (QUIET, true, "", REPLAY, released(vec![]))),
    ])
}

#[test]
fn thirty_nights() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut planted = planted();
    let mut counted = (0, 0);
    for night in 0..30 {
        let quiet = || (QUIET, false, "", REPLAY, released(vec![]));
        let (data, knows, limit, choice, expected) = planted.remove(&night).unwrap_or_else(quiet);
        fs::write(folder.join("people.csv"), people(night, data)).unwrap();
        let before = release(folder);
        let output = run(folder, &job(knows, limit, choice), &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected.code), "night {night}: {said}");
        let counts = |all: &[(&str, u64)]| all.iter().map(|(name, n)| (name.to_string(), *n)).collect();
        let expected_drift: Vec<(String, BTreeMap<String, u64>)> = expected
            .drift
            .iter()
            .map(|(kind, all)| (kind.to_string(), counts(all)))
            .collect();
        assert_eq!(drift(&output), expected_drift, "night {night}: {said}");
        for text in [&output.stderr, &output.stdout] {
            assert!(
                !String::from_utf8_lossy(text).contains(UNKNOWN),
                "night {night}: a value was told"
            );
        }
        if expected.code != 0 {
            counted.1 += 1;
            assert_eq!(release(folder), before, "night {night} published something");
            let last = events(&output).pop().unwrap();
            assert_eq!(last["kind"] == "Drift", expected.code == 7, "night {night}: {last}");
            let message = last["message"].as_str().unwrap();
            assert!(message.contains(expected.error), "night {night}: {message}");
            continue;
        }
        counted.0 += 1;
        told_and_kept(folder, night, &output, choice, &expected_drift);
        let verified = anonsql(folder).args(["-c", VERIFY]).output().unwrap();
        assert_eq!(verified.status.code(), Some(0), "night {night} does not verify");
    }
    assert!(planted.is_empty());
    assert_eq!(counted, (19, 11));
}

/// Checks a night with a release. Its summary row and its manifest contain the drift, and say
/// whether the node was applied.
fn told_and_kept(folder: &Path, night: u64, output: &Output, choice: &str, drift: &[(String, BTreeMap<String, u64>)]) {
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut rows = summary
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let row = rows.rfind(|row| row["outcome"] == "released").unwrap();
    let text = fs::read_to_string(folder.join("release/_manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    if choice == ANEW {
        assert!(
            manifest.get("replay").is_none() && row.get("drift").is_none(),
            "night {night}"
        );
        return;
    }
    let kinds: Vec<&str> = drift.iter().map(|(kind, _)| kind.as_str()).collect();
    let replay = &manifest["replay"];
    let kept: Vec<&str> = match replay["drift"].as_array() {
        Some(all) => all.iter().map(|d| d["kind"].as_str().unwrap()).collect(),
        None => vec![],
    };
    assert_eq!(kept, kinds, "night {night}");
    // The node of the night before fits neither the crowd of night 13 nor the hierarchy of
    // night 27.
    let applied = !matches!(night, 13 | 27);
    assert_eq!(replay["applied"], applied, "night {night}");
    assert_eq!(row["proof"] == "given", applied, "night {night}: {row}");
    let told = row["drift"].as_str().unwrap();
    assert_eq!(told == "none", kinds.is_empty(), "night {night}: {told}");
    assert!(kinds.iter().all(|kind| told.contains(kind)), "night {night}: {told}");
}

/// The manifest has only a digest of a hierarchy that is a file of labels. Without the file, VERIFY
/// does not check its labels, and a strict VERIFY does not pass. The hierarchy of ages is a rule,
/// so VERIFY restores it from the manifest.
#[test]
fn what_only_a_digest_tells_is_not_checked_and_no_pass_if_strict() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("people.csv"), people(0, QUIET)).unwrap();
    assert_eq!(run(folder, &job(false, "", ANEW), &[]).status.code(), Some(0));
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let lax = run(folder, VERIFY, &[]);
    assert_eq!(lax.status.code(), Some(0));
    assert!(said(&lax).contains("not checked: labels of city"), "{}", said(&lax));
    assert!(!said(&lax).contains("not checked: labels of age"), "{}", said(&lax));
    assert!(
        said(&lax).contains("values of age that are not of level 1"),
        "{}",
        said(&lax)
    );
    let strict = run(folder, VERIFY, &["--strict"]);
    assert_eq!(strict.status.code(), Some(4), "{}", said(&strict));
    let informed = run(folder, &format!("{}{VERIFY}", hierarchies(false)), &["--strict"]);
    assert_eq!(informed.status.code(), Some(0), "{}", said(&informed));
    // A raw age is found, although the session has no hierarchy.
    let stored = job(false, "", ANEW).replace("OVERWRITE", "STORED AS CSV OVERWRITE");
    assert_eq!(run(folder, &stored, &[]).status.code(), Some(0));
    let age = |output: &Output| {
        let text = said(output);
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut of_age = rows.filter(|row| row["check"] == "values of age that are not of level 1");
        of_age.next().unwrap()["ok"].as_bool()
    };
    assert_eq!(age(&run(folder, VERIFY, &[])), Some(true));
    let file = folder.join("release/part-00000.csv");
    fs::write(&file, fs::read_to_string(&file).unwrap().replacen("20-29", "23", 1)).unwrap();
    assert_eq!(age(&run(folder, VERIFY, &[])), Some(false));
}

/// A scheduler that knows only the exit code can run a job again after any outcome.
#[test]
fn a_job_can_be_run_again_blindly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("people.csv"), people(0, QUIET)).unwrap();
    let kept = job(false, "", ANEW).replace("OVERWRITE", "IF NOT EXISTS");
    let plain = job(false, "", ANEW).replace("OVERWRITE", "");
    let outcome = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut outcomes = rows.filter_map(|row| Some(row["outcome"].as_str()?.to_string()));
        (output.status.code(), outcomes.next())
    };
    // A job that is killed at any of several moments and run again has the same result as one that
    // was not killed.
    for delay in [0, 20, 60, 100, 150, 200, 300] {
        fs::write(folder.join("job.sql"), &kept).unwrap();
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_anonsql"))
            .current_dir(folder)
            .args(["--no-init", "-f", "job.sql"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        let whole = folder.join("release").exists();
        let again = outcome(&run(folder, &kept, &[]));
        let expected = if whole { "kept: the target exists" } else { "released" };
        assert_eq!(again, (Some(0), Some(expected.to_string())), "after {delay} ms");
        let verified = anonsql(folder).args(["-c", VERIFY]).output().unwrap();
        assert_eq!(verified.status.code(), Some(0));
        let once = release(folder);
        assert_eq!(
            outcome(&run(folder, &kept, &[])),
            (Some(0), Some("kept: the target exists".into()))
        );
        assert_eq!(outcome(&run(folder, &plain, &[])), (Some(5), None));
        assert_eq!(release(folder), once, "a target that is kept is not touched");
        fs::remove_dir_all(folder.join("release")).unwrap();
    }
    // A job that replaces its own release gives the same release each time, for every release that
    // it applies.
    assert_eq!(
        outcome(&run(folder, &job(false, "", ANEW), &[])),
        (Some(0), Some("released".into()))
    );
    let data = |folder: &Path| {
        release(folder)
            .into_iter()
            .filter(|(name, _)| name.ends_with(".parquet"))
            .collect::<Vec<_>>()
    };
    let once = data(folder);
    for choice in [ANEW, REPLAY, REPLAY] {
        assert_eq!(
            outcome(&run(folder, &job(false, "", choice), &[])),
            (Some(0), Some("released".into()))
        );
        assert_eq!(data(folder), once);
    }
}
