//! Tests stages whose runs are killed, stages of several runs with the same target, and targets
//! with unexpected content.

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn a_stage_is_for_its_owner_until_it_is_the_target() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let scratch = tempfile::tempdir().unwrap();
    let usual = scratch.path().join("usual");
    fs::create_dir(&usual).unwrap();
    let target = scratch.path().join("release");
    let stage = Stage::open(&target).unwrap();
    assert_eq!((mode(stage.folder()), names(stage.folder())), (0o700, vec![]));
    stage.publish_new(target_exists(Path::new("t"))).unwrap();
    assert_eq!(mode(&target), mode(&usual));
}

#[test]
fn a_stage_appears_whole_or_not_at_all() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let stage = Stage::open(&target).unwrap();
    fs::write(stage.folder().join("a"), "1").unwrap();
    assert!(!target.exists());
    drop(stage);
    assert_eq!(
        names(scratch.path()),
        Vec::<String>::new(),
        "a failed run leaves nothing"
    );

    let stage = Stage::open(&target).unwrap();
    fs::write(stage.folder().join("a"), "1").unwrap();
    stage.publish_new(target_exists(Path::new("t"))).unwrap();
    assert_eq!(
        (names(scratch.path()), names(&target)),
        (vec!["release".into()], vec!["a".into()])
    );

    let stage = Stage::open(&target).unwrap();
    fs::write(stage.folder().join("b"), "2").unwrap();
    let refused = stage.publish_new(target_exists(Path::new("t"))).unwrap_err();
    assert_eq!(refused.exit_code(), 5);
    assert_eq!(names(&target), ["a"]);

    fs::write(target.join("_manifest.json"), r#"{"output": [{"name": "a"}]}"#).unwrap();
    let stage = Stage::open(&target).unwrap();
    fs::write(stage.folder().join("b"), "2").unwrap();
    stage.publish_over().unwrap();
    assert_eq!(
        (names(scratch.path()), names(&target)),
        (vec!["release".into()], vec!["b".into()])
    );
}

#[test]
fn what_a_killed_run_left_is_removed_and_a_living_one_is_not() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    // Some of these targets have names that begin with the name of this target. The other names
    // contain unusual characters.
    let others = ["release-", "release-2", "release ", "rel*", "reléase"].map(|name| {
        let stage = Stage::open(&scratch.path().join(name)).unwrap();
        (stage.folder().to_path_buf(), abandon(stage))
    });
    let alive = Stage::open(&target).unwrap();
    let dead: Vec<PathBuf> = (0..2)
        .map(|_| {
            let stage = Stage::open(&target).unwrap();
            fs::write(stage.folder().join("raw"), "1").unwrap();
            fs::create_dir(stage.folder().join("s=f")).unwrap();
            abandon(stage)
        })
        .collect();
    assert!(!dead[0].exists() && dead[1].exists(), "the second removed the first");
    // This run was killed while it removed its stage. The rest still belongs to its target.
    let rest = Stage::open(&target).unwrap();
    fs::create_dir(rest.folder().join("s=m")).unwrap();
    fs::write(rest.folder().join("s=m/part"), "1").unwrap();
    let rest = abandon(rest);
    // This run was killed before it held its folder.
    let of_target = Names::new(scratch.path().to_path_buf(), "release".into());
    let empty = of_target.another(STAGING);
    fs::create_dir(&empty).unwrap();
    let next = Stage::open(&target).unwrap();
    assert!(alive.folder().exists() && next.folder().exists());
    assert!(!dead[1].exists() && !rest.exists() && !empty.exists());
    assert!(names(scratch.path()).iter().all(|n| n.starts_with('.')));
    for (folder, _) in others {
        assert!(folder.exists(), "{folder:?} is of another target");
    }
}

/// Releases the lock of a stage as a kill would, and returns the folder of the stage.
fn abandon(mut stage: Stage) -> PathBuf {
    stage.held = None;
    stage.folder.clone()
}

#[test]
fn a_folder_that_is_not_held_yet_may_be_taken_and_is_made_anew() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        let cleaner = scope.spawn(|| {
            let names = Names::new(scratch.path().canonicalize().unwrap(), "release".into());
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                names.discard_abandoned().unwrap();
            }
        });
        let opened: Vec<Stage> = (0..200).map(|_| Stage::open(&target).unwrap()).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        cleaner.join().unwrap();
        opened
    });
    for stage in &opened {
        assert!(stage.folder().exists());
    }
}

#[test]
fn what_is_put_into_the_old_target_meanwhile_is_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let manifest = r#"{"output": [{"name": "a"}, {"name": "../outside"}], "report": "_report.md"}"#;
    let write = |folder: &Path, names: &[&str]| {
        for name in names {
            fs::write(
                folder.join(name),
                if *name == "_manifest.json" { manifest } else { "x" },
            )
            .unwrap();
        }
    };
    fs::create_dir(&target).unwrap();
    write(scratch.path(), &["outside"]);
    write(&target, &["a", "_manifest.json", "_report.md", "notes.txt"]);
    let refused = Stage::open(&target).unwrap().publish_over().unwrap_err();
    assert_eq!(refused.exit_code(), 5);
    assert!(refused.to_string().contains("\"notes.txt\""), "{refused}");
    assert_eq!(names(&target).len(), 4);
    assert_eq!(names(scratch.path()), ["outside", "release"]);

    // A kill between the exchange and the removal, with a file that was added after the last check.
    let mut stage = Stage::open(&target).unwrap();
    write(stage.folder(), &["a", "_manifest.json"]);
    stage.call(SWAPPING).unwrap();
    exchange(stage.folder(), &target).unwrap();
    abandon(stage);
    let said = Stage::open(&target).unwrap_err().to_string();
    assert!(said.contains("are kept in"), "{said}");
    let stage = Stage::open(&target).unwrap();
    write(stage.folder(), &["a", "_manifest.json"]);
    stage.publish_over().unwrap();
    let left = names(scratch.path());
    assert!(left.len() == 3 && left[2].starts_with("release.kept-"), "{left:?}");
    assert_eq!(names(&scratch.path().join(&left[2])), ["_manifest.json", "notes.txt"]);
    assert_eq!(names(&target), ["_manifest.json", "a"]);
}

#[test]
fn runs_for_one_target_at_once_each_put_a_whole_release_in_place() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    std::thread::scope(|scope| {
        for run in 0..8 {
            let target = &target;
            scope.spawn(move || {
                for _ in 0..20 {
                    let stage = Stage::open(target).unwrap();
                    let text = r#"{"output": [{"name": "a"}, {"name": "b"}]}"#;
                    fs::write(stage.folder().join("a"), run.to_string()).unwrap();
                    fs::write(stage.folder().join("b"), run.to_string()).unwrap();
                    fs::write(stage.folder().join("_manifest.json"), text).unwrap();
                    stage.publish_over().unwrap();
                }
            });
        }
    });
    let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
    assert_eq!(read("a"), read("b"));
    drop(Stage::open(&target).unwrap());
    assert_eq!(names(scratch.path()), ["release"]);
}

#[test]
fn links_and_files_are_said_to_be_what_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    fs::create_dir(at("real")).unwrap();
    fs::write(at("real/notes"), "mine").unwrap();
    fs::write(at("file"), "mine").unwrap();
    for (to, link) in [("real", "link"), ("nowhere", "dangling")] {
        std::os::unix::fs::symlink(to, at(link)).unwrap();
    }
    for (name, says) in [
        ("link", "is a symbolic link to real; name a folder"),
        ("dangling", "is a symbolic link to nowhere, which does not exist"),
        ("file", "is a file, and a release is a folder"),
    ] {
        let refused = Stage::open(&at(name)).unwrap().publish_over().unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
        assert_eq!(refused.exit_code(), 5);
    }
    assert_eq!(names(scratch.path()), ["dangling", "file", "link", "real"]);
    // A folder in the path may be a symbolic link. The target is then in the folder to which the
    // link points.
    let stage = Stage::open(&at("link/inner")).unwrap();
    assert!(stage.folder().starts_with(at("real").canonicalize().unwrap()));
    stage.publish_new(target_exists(Path::new("t"))).unwrap();
    // An empty folder is not a release. A folder with other content may belong to someone else.
    let again = Stage::open(&at("real/../link/./inner")).unwrap();
    again.publish_new(target_exists(Path::new("t"))).unwrap();
    fs::write(at("real/inner/mine"), "x").unwrap();
    let again = Stage::open(&at("real/../link/./inner")).unwrap();
    assert_eq!(
        again
            .publish_new(target_exists(Path::new("t")))
            .unwrap_err()
            .exit_code(),
        5
    );
    // An empty folder may be replaced.
    fs::remove_file(at("real/inner/mine")).unwrap();
    Stage::open(&at("real/inner")).unwrap().publish_over().unwrap();
    assert_eq!(names(&at("real")), ["inner", "notes"]);
}
