//! The addresses of workers.

use crate::error::{Error, Result};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use url::{Host, Url};

/// The addresses of the workers of a session, each once, in the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses(Vec<Url>);

impl Addresses {
    /// Returns the addresses.
    pub(crate) fn urls(&self) -> &[Url] {
        &self.0
    }
}

impl FromStr for Addresses {
    type Err = Error;

    /// Reads addresses with commas between them. Fails with `ErrorKind::Usage` if one is none, or is not on this machine.
    fn from_str(text: &str) -> Result<Self> {
        let mut urls = vec![];
        for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let url = address(text)?;
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        match urls.is_empty() {
            true => Err(Error::usage(
                "a cluster has at least one worker; write their addresses: 'http://127.0.0.1:8000,http://127.0.0.1:8001'",
            )),
            false => Ok(Self(urls)),
        }
    }
}

fn address(text: &str) -> Result<Url> {
    let wrong = |why: &str| {
        Err(Error::usage(format!(
            "{text:?} is no address of a worker: {why}; write 'http://127.0.0.1:8000'"
        )))
    };
    let Ok(url) = Url::parse(text) else {
        return wrong("it is no URL");
    };
    if let Some(refused) = Error::of_credentials(&url) {
        return Err(refused);
    }
    if url.scheme() != "http" {
        return wrong("workers are asked by http://");
    }
    if url.port().is_none() || url.path() != "/" || url.query().is_some() {
        return wrong("it has a host and a port, and nothing else");
    }
    match is_loopback(&url) {
        true => Ok(url),
        false => Err(Error::usage(format!(
            "the worker {text} is on another machine, and rows would travel there unencrypted; this version asks workers on \
             this machine only. Let a tunnel with mutual TLS listen here, such as that of stunnel or ghostunnel, and name its \
             address"
        ))),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Reads where a worker listens. Fails with `ErrorKind::Usage` if others than this machine could reach it.
pub(crate) fn listening(text: &str) -> Result<SocketAddr> {
    let text = text.replacen("localhost", "127.0.0.1", 1);
    let Ok(address) = text.parse::<SocketAddr>() else {
        return Err(Error::usage(format!(
            "{text:?} is no address to listen on; write 127.0.0.1:8000"
        )));
    };
    let ip: IpAddr = address.ip();
    match ip.is_loopback() {
        true => Ok(address),
        false => Err(Error::usage(format!(
            "a worker on {text} could be reached by everybody, and executes what it is sent; this version listens on loopback \
             addresses only: 127.0.0.1:{}. Put a tunnel with mutual TLS before it, such as that of stunnel or ghostunnel",
            address.port()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>> {
        let addresses: Addresses = text.parse()?;
        Ok(addresses.urls().iter().map(Url::to_string).collect())
    }

    #[test]
    fn addresses_are_of_this_machine() {
        let read_as = |text: &str| read(text).unwrap().join(" ");
        assert_eq!(
            read_as("http://127.0.0.1:8000, http://localhost:1,http://127.0.0.1:8000"),
            "http://127.0.0.1:8000/ http://localhost:1/"
        );
        assert_eq!(read_as("http://[::1]:8000"), "http://[::1]:8000/");
        for (text, why) in [
            ("", "at least one worker"),
            ("http://10.0.0.7:8000", "another machine"),
            ("http://worker:8000", "another machine"),
            ("https://127.0.0.1:8000", "http://"),
            ("http://127.0.0.1", "a port"),
            ("http://127.0.0.1:8000/a", "nothing else"),
            ("http://a:b@127.0.0.1:8000", "a password"),
            ("127.0.0.1:8000", "no address"),
        ] {
            let e = read(text).unwrap_err().to_string();
            assert!(e.contains(why), "{text}: {e}");
        }
    }

    #[test]
    fn a_worker_listens_to_this_machine_alone() {
        assert_eq!(listening("localhost:80").unwrap().to_string(), "127.0.0.1:80");
        assert!(listening("[::1]:80").is_ok());
        for wrong in ["0.0.0.0:8000", "192.168.1.2:8000"] {
            let e = listening(wrong).unwrap_err().to_string();
            assert!(e.contains("127.0.0.1:8000"), "{e}");
        }
        assert!(listening("8000").is_err());
    }
}
