//! Tests the events of `--lineage`, which describe a release to a data catalogue.

use crate::common::anonsql;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;

fn release(k: usize) -> String {
    format!(
        "CREATE HIERARCHY age AS INTERVALS (10); ANONYMIZE 'people.csv' TO 'out' OVERWRITE QUASI IDENTIFIERS (age USING age) \
         SENSITIVE (illness) SATISFYING k_anonymity({k})"
    )
}

fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    let rows: String = (0..20).map(|i| format!("{},quixotica-{i}\n", 30 + i)).collect();
    std::fs::write(desk.path().join("people.csv"), format!("age,illness\n{rows}")).unwrap();
    desk
}

fn run(desk: &Path, place: &str, sql: &str) -> Option<i32> {
    let mut command = anonsql(desk);
    let command = command.args(["--lineage", place, "-c", sql]);
    let output = command.env("OPENLINEAGE_API_KEY", "quixotica-key").output();
    output.unwrap().status.code()
}

#[test]
fn a_release_is_told_from_its_start_to_its_end() {
    let desk = desk();
    let place = desk.path().join("events.ndjson").display().to_string();
    assert_eq!(run(desk.path(), &place, &release(5)), Some(0));
    assert_eq!(run(desk.path(), &place, &release(50)), Some(3));
    assert_eq!(run(desk.path(), &place, "SELECT 1"), Some(0));
    let text = std::fs::read_to_string(&place).unwrap();
    assert!(!text.contains("quixotica"), "{text}");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["eventType"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["START", "COMPLETE", "START", "FAIL"]);
    assert_eq!(events[0]["run"]["runId"], events[1]["run"]["runId"]);
    assert_ne!(events[1]["run"]["runId"], events[2]["run"]["runId"]);
    let name = |place: &str| desk.path().join(place).canonicalize().unwrap().display().to_string();
    assert_eq!(events[1]["inputs"][0]["name"], name("people.csv"));
    assert_eq!(events[1]["inputs"][0]["namespace"], "file");
    let facets = &events[1]["outputs"][0]["facets"];
    let fields = facets["schema"]["fields"].as_array().unwrap();
    let names: Vec<&str> = fields.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["age", "illness"]);
    let from = |column: &str| &facets["columnLineage"]["fields"][column]["inputFields"][0];
    assert_eq!(
        (&from("age")["field"], &from("age")["transformations"][0]["masking"]),
        (&"age".into(), &true.into())
    );
    assert_eq!(from("illness")["transformations"][0]["subtype"], "IDENTITY");
    let promises = &events[1]["run"]["facets"]["anonsql"];
    assert!(
        promises["reachedK"].as_u64().unwrap() >= 5 && promises["checks"][0]["ok"] == true,
        "{promises}"
    );
}

/// Events are posted in order, with the key from the environment. An unreachable server does not
/// make a release fail.
#[test]
fn events_are_posted_to_a_server() {
    let desk = desk();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let listening = std::thread::spawn(move || {
        let mut seen = vec![];
        for client in server.incoming().take(2) {
            let mut client = BufReader::new(client.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                let from = head.len();
                client.read_line(&mut head).unwrap();
                if let Some(value) = head[from..].to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            client.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            client.get_mut().write_all(answer).unwrap();
            seen.push((head, serde_json::from_slice::<Value>(&body).unwrap()));
        }
        seen
    });
    assert_eq!(run(desk.path(), &url, &release(5)), Some(0));
    let seen = listening.join().unwrap();
    for ((head, event), kind) in seen.iter().zip(["START", "COMPLETE"]) {
        assert!(head.starts_with("POST /api/v1/lineage "), "{head}");
        assert!(head.contains("Bearer quixotica-key"));
        assert_eq!(event["eventType"], kind);
    }
    assert_eq!(run(desk.path(), &url, &release(5)), Some(0), "nobody listens any more");
    for (wrong, said) in [
        ("ftp://host", "events cannot be sent to ftp://"),
        ("http://a:b@host", "OPENLINEAGE_API_KEY"),
    ] {
        let output = anonsql(desk.path())
            .args(["--lineage", wrong, "-c", "SELECT 1"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(said));
    }
}
