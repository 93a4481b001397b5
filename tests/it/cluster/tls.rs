//! Tests workers that present certificates and require them.

use super::workers::Workers;
use super::{driver, people, sums};
use crate::common::anonsql;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates a folder with a new certificate authority and with a certificate for `localhost`, which
/// the authority signed.
fn certificates(parent: &Path, name: &str) -> PathBuf {
    let folder = parent.join(name);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cluster/certificates.sh");
    let output = Command::new(script)
        .arg(&folder)
        .args(["localhost", name])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.join("ca.key").exists());
    folder
}

const REQUEST: &str = "OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score, name, note) \
                       QUASI IDENTIFIERS (age USING age, zip USING zip) KEEP (illness) SATISFYING k_anonymity(5)";

/// Rows are encrypted between workers and on the way to the driver. A program without a certificate
/// from the authority gets no response. A worker is not used if its certificate is for another name
/// or from another authority.
#[test]
fn certificates_are_asked_for_on_both_sides() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let (own, other) = (certificates(folder, "own"), certificates(folder, "other"));
    let workers = Workers::with_certificates(2, folder, &own);
    let release = |target: &str, urls: &str, shown: Option<&Path>| {
        let mut command = driver(folder, None, &format!("ANONYMIZE people TO '{target}' {REQUEST}"));
        command.args(["--cluster", urls]);
        if let Some(shown) = shown {
            command.arg("--cluster-tls").arg(shown);
        }
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let alone = driver(folder, None, &format!("ANONYMIZE people TO 'alone' {REQUEST}"));
    assert!({ alone }.status().unwrap().success());
    // Each worker has its own address, and a single host name resolves to the addresses of all
    // workers.
    let urls = workers.urls();
    let looked_up = urls.split(',').next().unwrap().replace("https:", "dns+https:");
    for (target, urls) in [("named", &urls), ("found", &looked_up)] {
        let (code, said) = release(target, urls, Some(&own));
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(sums(&folder.join("alone")), sums(&folder.join(target)));
    }
    let by_address = urls.replace("localhost", "127.0.0.1");
    let plain = by_address.replace("https:", "http:");
    for (urls, shown, why) in [
        (&urls, None, "--cluster-tls FOLDER"),
        (&urls, Some(other.as_path()), "no worker of the cluster answers"),
        (&urls, Some(folder), "ca.crt"),
        // The certificate is for the name localhost, and not for the IP address.
        (&by_address, Some(own.as_path()), "no worker of the cluster answers"),
        (&plain, None, "no worker of the cluster answers"),
    ] {
        let (code, said) = release("out", urls, shown);
        let expected = if why.starts_with("no worker") { 6 } else { 1 };
        assert_eq!(code, Some(expected), "{urls} {shown:?}: {said}");
        assert!(said.contains(why), "{urls} {shown:?}: {said}");
        assert!(!folder.join("out").exists());
    }
    let refused = anonsql(folder)
        .args(["worker", "--listen", "127.0.0.1:0", "--tls", "people"])
        .assert()
        .code(1);
    let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(told.contains("tls.crt"), "{told}");
}
