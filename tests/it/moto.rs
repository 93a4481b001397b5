//! moto, an S3 server from PyPI. A test starts the server on loopback and stops it at the end.

use anonsql::AnonContext;
use datafusion::object_store::aws::{AmazonS3, AmazonS3Builder};
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The secret key with which the tests sign requests. No output may show it.
pub const SECRET: &str = "quixotica-secret";

/// The bucket of every server.
pub const BUCKET: &str = "lake";

/// The maximum time that a server may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a port on which no program listens.
pub fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// Waits until a server is ready.
pub fn started(server: &str, is_ready: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_ready() {
        assert!(begun.elapsed() < PATIENCE, "{server} does not answer");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A running server with one empty bucket.
pub struct Moto {
    server: Child,
    port: u16,
}

impl Moto {
    /// Starts a server on a free port, and waits until it responds.
    pub fn start() -> Self {
        let port = free_port();
        let server = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto_server is missing: pip install 'moto[server]'");
        let moto = Self { server, port };
        started("moto_server", || moto.answers(&format!("PUT /{BUCKET} HTTP/1.1")));
        moto
    }

    /// Sends a request without a body. Returns true if the server responds with status 200.
    fn answers(&self, request: &str) -> bool {
        let send = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            let host = format!("Host: 127.0.0.1:{}", self.port);
            let signed = "Authorization: AWS4-HMAC-SHA256 Credential=tests/20260101/us-east-1/s3/aws4_request";
            write!(
                stream,
                "{request}\r\n{host}\r\n{signed}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        send().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the server.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the bucket as a store. Access through this store bypasses anonsql.
    pub fn store(&self) -> AmazonS3 {
        AmazonS3Builder::new()
            .with_bucket_name(BUCKET)
            .with_endpoint(self.endpoint())
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_access_key_id("tests")
            .with_secret_access_key(SECRET)
            .build()
            .unwrap()
    }

    /// Puts an object into the bucket.
    pub async fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        let content: Vec<u8> = content.into();
        self.store().put(&Path::from(path), content.into()).await.unwrap();
    }

    /// Returns the names of all objects in the bucket under a prefix, sorted.
    pub async fn names(&self, prefix: &str) -> Vec<String> {
        let prefix = Path::from(prefix);
        let found: Vec<_> = self.store().list(Some(&prefix)).try_collect().await.unwrap();
        let mut names: Vec<String> = found.into_iter().map(|meta| meta.location.to_string()).collect();
        names.sort();
        names
    }

    /// Returns the environment of a command that reads from this server.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", "tests".into()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
        ]
    }

    /// Returns a session of the library in which the caller has registered this store.
    pub fn context(&self) -> AnonContext {
        let context = crate::common::context(2);
        let url = url::Url::parse(&format!("s3://{BUCKET}")).unwrap();
        let store = std::sync::Arc::new(self.store());
        context.session().register_object_store(&url, store);
        context
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
