//! Records the bytes between a driver and a worker.

use super::workers::Workers;
use super::{SECRET, driver, people};
use crate::moto::SECRET as KEY;
use parking_lot::Mutex;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A proxy between driver and worker that records the bytes.
struct Between {
    url: String,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Between {
    fn start(worker: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let (own, worker) = (Arc::clone(&seen), worker.replace("http://", ""));
        thread::spawn(move || {
            for from in listener.incoming() {
                let (from, to) = (from.unwrap(), TcpStream::connect(&worker).unwrap());
                for (from, to) in [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to, from)] {
                    let seen = Arc::clone(&own);
                    thread::spawn(move || pass(from, to, &seen));
                }
            }
        });
        Self { url, seen }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: &Mutex<Vec<u8>>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        seen.lock().extend(&bytes[..read]);
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn has(seen: &[u8], text: &str) -> bool {
    seen.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The location of a secret is sent, but neither the secret of a hash nor the key of a store is
/// sent.
#[test]
fn no_secret_travels() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let environment = [("SALT", SECRET.to_string()), ("AWS_SECRET_ACCESS_KEY", KEY.to_string())];
    let workers = Workers::with_environment(1, folder, &environment);
    let between = Between::start(&workers.urls());
    let sql = "ANONYMIZE people TO 'out' IDENTIFIERS (name HASH WITH SECRET 'env:SALT', person, score) \
               QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness) KEEP (note) \
               SATISFYING k_anonymity(5) AND l_diversity(3) ON illness";
    let mut running = driver(folder, None, sql);
    running
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .args(["--log", "json", "--cluster", &between.url]);
    let output = running.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = between.seen.lock();
    assert!(has(&seen, "env:SALT") && has(&seen, "RecodeExec") && has(&seen, "EndsExec"));
    for secret in [SECRET, KEY] {
        assert!(!has(&seen, secret) && !has(&output.stdout, secret) && !has(&output.stderr, secret));
    }
}
