//! azurite, a server for Azure blobs from npm. A test starts the server on loopback and stops it at
//! the end.

use crate::moto::{free_port, started};
use datafusion::object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};
use std::process::{Child, Command, Stdio};

/// The account of every azurite.
const ACCOUNT: &str = "devstoreaccount1";

/// The key of the account. It is public, but no output may show it.
pub const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The container of every server.
pub const CONTAINER: &str = "lake";

/// A running server with one empty container.
pub struct Azurite {
    server: Child,
    port: u16,
}

impl Azurite {
    /// Starts a server on a free port, and waits until its container exists.
    pub fn start() -> Self {
        let port = free_port();
        let server = Command::new("azurite-blob")
            .args([
                "--inMemoryPersistence",
                "--skipApiVersionCheck",
                "--silent",
                "--blobPort",
            ])
            .arg(port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("azurite-blob is missing: npm install -g azurite");
        let azurite = Self { server, port };
        started("azurite-blob", || azurite.make_container());
        azurite
    }

    /// Creates the container with a script, because object_store cannot create one. Returns true on
    /// success.
    fn make_container(&self) -> bool {
        let made = Command::new("python3")
            .args(["-c", MAKE, &self.port.to_string(), ACCOUNT, KEY, CONTAINER])
            .stderr(Stdio::null())
            .status();
        made.is_ok_and(|status| status.success())
    }

    /// Returns the container as a store. Access through this store bypasses anonsql.
    pub fn store(&self) -> MicrosoftAzure {
        MicrosoftAzureBuilder::new()
            .with_container_name(CONTAINER)
            .with_account(ACCOUNT)
            .with_access_key(KEY)
            .with_endpoint(format!("http://127.0.0.1:{}/{ACCOUNT}", self.port))
            .with_allow_http(true)
            .build()
            .unwrap()
    }

    /// Returns the environment of a command that reads from this server.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.into()),
            ("AZURE_STORAGE_ACCOUNT_KEY", KEY.into()),
            (
                "AZURE_STORAGE_ENDPOINT",
                format!("http://127.0.0.1:{}/{ACCOUNT}", self.port),
            ),
            ("AZURE_ALLOW_HTTP", "true".into()),
        ]
    }
}

impl Drop for Azurite {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A script that creates a container by a request signed with the shared key, as the service
/// requires.
const MAKE: &str = r"
import base64, hashlib, hmac, http.client, sys
from email.utils import formatdate
port, account, key, container = sys.argv[1:]
date = formatdate(usegmt=True)
headers = f'x-ms-date:{date}\nx-ms-version:2021-08-06'
resource = f'/{account}/{account}/{container}\nrestype:container'
text = 'PUT' + '\n' * 12 + headers + '\n' + resource
signed = base64.b64encode(hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()).decode()
server = http.client.HTTPConnection('127.0.0.1', int(port))
server.request('PUT', f'/{account}/{container}?restype=container', headers={
    'x-ms-date': date, 'x-ms-version': '2021-08-06', 'Authorization': f'SharedKey {account}:{signed}', 'Content-Length': '0'})
sys.exit(server.getresponse().status != 201)
";
