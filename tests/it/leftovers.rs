//! Tests files that killed runs of another user left beside a target. A run cannot remove them, and
//! they do not disturb any run.

use crate::common::process;
use sha2::{Digest, Sha256};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user `nobody`, and its group.
const NOBODY: u32 = 65534;

const REQUEST: &str = "QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)";

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A folder in which every user may write, but may not remove the files of another user.
struct Shared {
    folder: tempfile::TempDir,
    /// True if the tests run as root. The runs then belong to another user. Otherwise, no other
    /// user is available, and unreadable folders stand for the folders of another user.
    is_root: bool,
    others: Vec<PathBuf>,
}

impl Shared {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
        mode(folder.path(), 0o1777);
        fs::write(folder.path().join("people.csv"), "age,sex\n31,f\n32,f\n41,m\n").unwrap();
        if is_root {
            // Other users may have no access to the folder of the build.
            let (built, own) = (env!("CARGO_BIN_EXE_anonsql"), folder.path().join("anonsql"));
            fs::hard_link(built, &own)
                .or_else(|_| fs::copy(built, &own).map(drop))
                .unwrap();
        }
        Self {
            folder,
            is_root,
            others: vec![],
        }
    }

    /// Creates a folder with a file, as a run does.
    fn left(&self, name: &str) -> PathBuf {
        let left = self.folder.path().join(name);
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("part-00000.parquet"), "x").unwrap();
        mode(&left, 0o700);
        left
    }

    /// Creates a folder that belongs to the user who runs the command.
    fn own(&self, name: &str) -> PathBuf {
        let left = self.left(name);
        if self.is_root {
            for path in [left.join("part-00000.parquet"), left.clone()] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        left
    }

    /// Creates a folder that belongs to another user.
    fn others(&mut self, name: &str) {
        let left = self.left(name);
        if !self.is_root {
            mode(&left, 0o000);
        } else if name.contains("swapping") {
            // The run was about to rename this folder to the target, so the folder already has the
            // target's permissions.
            mode(&left, 0o755);
        }
        self.others.push(left);
    }

    /// Runs a statement. It must succeed without a message about leftovers.
    fn run(&self, sql: &str) {
        let mut command = process(self.folder.path());
        if self.is_root {
            let mut own = Command::new(self.folder.path().join("anonsql"));
            own.current_dir(self.folder.path()).uid(NOBODY).gid(NOBODY);
            own.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command = own;
        }
        let output = command.args(["-q", "--threads", "1", "-c", sql]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{sql}");
        assert!(self.others.iter().all(|left| left.is_dir()), "{sql}");
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // These permissions allow the removal of the folders.
        for left in &self.others {
            let _ = fs::set_permissions(left, Permissions::from_mode(0o700));
        }
    }
}

/// Returns the name of a hidden folder for a target.
fn hidden(kind: &str, target: &str, number: u32) -> String {
    let digest = hex::encode(Sha256::digest(target.as_bytes()));
    format!(".anonsql-{kind}-{}-{number:032x}", &digest[..16])
}

/// Repeated runs to the same target succeed despite another user's leftovers, and remove their own.
#[test]
fn what_another_user_left_ends_no_later_run() {
    let mut shared = Shared::new();
    for target in ["out", "out.html"] {
        shared.others(&hidden("staging", target, 1));
        shared.others(&hidden("swapping", target, 2));
    }
    let release = format!("ANONYMIZE 'people.csv' TO 'out' OVERWRITE {REQUEST} REPORT TO 'out.html'");
    for _ in 0..2 {
        let own = shared.own(&hidden("staging", "out", 3));
        shared.run(&release);
        assert!(!own.exists());
        assert!(shared.folder.path().join("out/_manifest.json").is_file());
    }
}

/// Repeated runs to a Delta table succeed and clean up in the same way. Every user may write in the
/// table's folder.
#[cfg(feature = "delta")]
#[test]
fn what_another_user_left_in_a_delta_table_ends_no_later_run() {
    let mut shared = Shared::new();
    let table = shared.folder.path().join("table");
    fs::create_dir_all(table.join("_anonsql/runs")).unwrap();
    for folder in ["", "_anonsql", "_anonsql/runs"] {
        mode(&table.join(folder), 0o1777);
    }
    shared.others("table/_anonsql/runs/20260101T000000Z00000001");
    shared.others("table/run=20260101T000000Z00000001");
    for how in ["", "OVERWRITE", "OVERWRITE"] {
        let own = shared.own("table/_anonsql/runs/20260101T000000Z00000002");
        shared.run(&format!(
            "ANONYMIZE 'people.csv' TO 'table' STORED AS DELTA {how} {REQUEST}"
        ));
        assert!(!own.exists());
    }
}
