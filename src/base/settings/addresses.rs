//! Parses the addresses of workers.

use crate::base::error::{Error, Result};
use std::net::SocketAddr;
use std::str::FromStr;
use url::{Host, Url};

/// The prefix of a URL whose host is looked up in DNS. Every address found in DNS is the address of
/// a worker.
const LOOKED_UP: &str = "dns+";

/// The URL scheme of a Ballista scheduler.
const SCHEDULER: &str = "df://";

/// The address of one or more workers, or of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerAddress {
    /// The URL of a worker, of all workers with the same host name, or of a scheduler.
    pub(crate) url: Url,
    /// Whether the host is looked up in DNS, which may return the addresses of any number of
    /// workers.
    pub(crate) is_looked_up: bool,
    /// Whether this is the address of a Ballista scheduler.
    is_scheduler: bool,
}

/// The addresses of a session's workers without duplicates, in the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses(Vec<WorkerAddress>);

impl Addresses {
    /// Returns the addresses.
    pub(crate) fn all(&self) -> &[WorkerAddress] {
        &self.0
    }

    /// Returns the URL of the Ballista scheduler; `None` if no address is a scheduler.
    pub(crate) fn scheduler(&self) -> Option<&Url> {
        self.0
            .iter()
            .find(|address| address.is_scheduler)
            .map(|address| &address.url)
    }

    /// Returns true if a worker has an `https://` URL. In this case, the driver and the workers
    /// require certificates from each other.
    pub(crate) fn are_encrypted(&self) -> bool {
        self.0.iter().any(|address| address.url.scheme() == "https")
    }
}

impl FromStr for Addresses {
    type Err = Error;

    /// Parses addresses that are separated by commas. Fails with `ErrorKind::Usage` if there is no
    /// address, if a part of the text is not an address or is the unencrypted address of another
    /// machine, or if a scheduler is not the only address.
    fn from_str(text: &str) -> Result<Self> {
        let mut all = vec![];
        for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let address = address(text)?;
            if !all.contains(&address) {
                all.push(address);
            }
        }
        if all.len() > 1 && all.iter().any(|address| address.is_scheduler) {
            return Err(Error::usage(
                "a cluster has workers, or one scheduler of Ballista; write only the one address of the scheduler: \
                 'df://127.0.0.1:50050'",
            ));
        }
        match all.is_empty() {
            true => Err(Error::usage(
                "a cluster has at least one worker; write their addresses: 'http://127.0.0.1:8000,http://127.0.0.1:8001'",
            )),
            false => Ok(Self(all)),
        }
    }
}

fn address(text: &str) -> Result<WorkerAddress> {
    let wrong = |why: &str| {
        Err(Error::usage(format!(
            "{text:?} is not the address of a worker: {why}; write 'http://127.0.0.1:8000', 'https://worker:8000', or \
             'dns+https://workers:8000' for all that have a name"
        )))
    };
    if let Some(rest) = text.strip_prefix(SCHEDULER) {
        let url = Url::parse(&format!("http://{rest}"));
        if url.is_ok_and(|url| !is_loopback(&url)) {
            return Err(Error::usage(format!(
                "the scheduler {text} is on another machine, and Ballista does not encrypt the rows in transit. \
                 Several machines need \
                 workers: anonsql worker --tls FOLDER"
            )));
        }
        let own = address(&format!("http://{rest}"))?;
        return Ok(WorkerAddress {
            is_scheduler: true,
            ..own
        });
    }
    let (is_looked_up, rest) = match text.strip_prefix(LOOKED_UP) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Ok(url) = Url::parse(rest) else {
        return wrong("it is not a URL");
    };
    if let Some(refused) = Error::of_credentials(&url) {
        return Err(refused);
    }
    let is_encrypted = url.scheme() == "https";
    if !is_encrypted && url.scheme() != "http" {
        return wrong("workers have addresses at http:// or https://");
    }
    let has_port = rest
        .trim_end_matches('/')
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !has_port || url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return wrong("an address has only a host and a port");
    }
    match is_encrypted || is_looked_up || is_loopback(&url) {
        true => Ok(WorkerAddress {
            url,
            is_looked_up,
            is_scheduler: false,
        }),
        false => Err(elsewhere(text)),
    }
}

/// Returns the error for a worker on another machine that would be used without encryption.
pub(crate) fn elsewhere(text: &str) -> Error {
    Error::usage(format!(
        "the worker {text} is on another machine, and rows would travel there unencrypted. Start it with --tls \
         FOLDER, and write its address as https:// with --cluster-tls FOLDER"
    ))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Parses the address on which a worker listens. Fails with `ErrorKind::Usage` if the text is not
/// an address, or if other machines could reach the worker without encryption.
pub(crate) fn listening(text: &str, is_encrypted: bool) -> Result<SocketAddr> {
    let text = text.replacen("localhost", "127.0.0.1", 1);
    let Ok(address) = text.parse::<SocketAddr>() else {
        return Err(Error::usage(format!(
            "{text:?} is not an address to listen on; write 127.0.0.1:8000"
        )));
    };
    match is_encrypted || address.ip().is_loopback() {
        true => Ok(address),
        false => Err(Error::usage(format!(
            "{text} could be reached by everybody, and a worker executes every plan that it receives. Without \
             certificates (anonsql worker --tls FOLDER), write a loopback address: 127.0.0.1:{}",
            address.port()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>> {
        let addresses: Addresses = text.parse()?;
        Ok(addresses.all().iter().map(|address| address.url.to_string()).collect())
    }

    #[test]
    fn addresses_are_of_this_machine() {
        let read_as = |text: &str| read(text).unwrap().join(" ");
        assert_eq!(
            read_as("http://127.0.0.1:8000, http://localhost:1,http://127.0.0.1:8000"),
            "http://127.0.0.1:8000/ http://localhost:1/"
        );
        assert_eq!(read_as("http://[::1]:8000"), "http://[::1]:8000/");
        assert_eq!(read_as("https://10.0.0.7:8000"), "https://10.0.0.7:8000/");
        assert_eq!(read_as("https://worker:443"), "https://worker/");
        assert_eq!(read_as("dns+https://workers:8000"), "https://workers:8000/");
        for (text, why) in [
            ("", "at least one worker"),
            ("http://10.0.0.7:8000", "another machine"),
            ("http://worker:8000", "another machine"),
            ("ftp://127.0.0.1:8000", "http://"),
            ("https://worker", "a port"),
            ("https://worker:8000/#other", "only a host and a port"),
            ("http://127.0.0.1", "a port"),
            ("http://127.0.0.1:8000/a", "only a host and a port"),
            ("http://a:b@127.0.0.1:8000", "a password"),
            ("127.0.0.1:8000", "not the address of a worker"),
        ] {
            let e = read(text).unwrap_err().to_string();
            assert!(e.contains(why), "{text}: {e}");
        }
    }

    #[test]
    fn a_worker_listens_to_this_machine_alone() {
        assert_eq!(listening("localhost:80", false).unwrap().to_string(), "127.0.0.1:80");
        assert!(listening("[::1]:80", false).is_ok());
        for wrong in ["0.0.0.0:8000", "192.168.1.2:8000"] {
            let e = listening(wrong, false).unwrap_err().to_string();
            assert!(e.contains("127.0.0.1:8000"), "{e}");
            assert!(listening(wrong, true).is_ok());
        }
        assert!(listening("8000", true).is_err());
    }
}
