//! Greets workers: finds out which workers respond, and which versions they have.

use super::channels::{Connect, SILENCE};
use super::server::{NAME, version};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::settings::{Addresses, WorkerAddress, elsewhere};
use datafusion_distributed::GetWorkerInfoRequest;
use futures::future::join_all;
use std::num::NonZeroUsize;
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Url;

/// A worker that responded to the greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The worker's address.
    pub(crate) url: Url,
    /// The number of threads that the worker uses.
    pub(crate) threads: NonZeroUsize,
}

/// Returns the URLs of workers. A URL with a name that must be resolved is replaced by one URL for
/// each address to which the name currently resolves. The fragment of such a URL is the name for
/// which the worker's certificate must be valid. Fails with `ErrorKind::Usage` if the name in an
/// `http` URL resolves to an address that is not a loopback address.
pub(super) async fn found(addresses: &Addresses) -> Result<Vec<Url>> {
    let mut urls = vec![];
    for WorkerAddress { url, is_looked_up, .. } in addresses.all() {
        let known = url.host_str().zip(url.port_or_known_default());
        let Some((name, port)) = known.filter(|_| *is_looked_up) else {
            urls.push(url.clone());
            continue;
        };
        // A name that does not resolve yet has no workers, which is not an error.
        let Ok(behind) = lookup_host((name, port)).await else {
            continue;
        };
        for address in behind {
            if url.scheme() == "http" && !address.ip().is_loopback() {
                return Err(elsewhere(url.as_str()));
            }
            let mut own = url.clone();
            let is_set = own.set_ip_host(address.ip()).is_ok();
            own.set_fragment(Some(name));
            if is_set && !urls.contains(&own) {
                urls.push(own);
            }
        }
    }
    urls.sort();
    Ok(urls)
}

/// Returns the workers that respond. Fails with `ErrorKind::Usage` if a worker has another version,
/// and with `ErrorKind::Unavailable` if no worker responds.
pub(super) async fn greet(channels: &Connect, urls: &[Url]) -> Result<Vec<Member>> {
    let answers = join_all(urls.iter().map(|url| ask(channels, url))).await;
    let mut members = vec![];
    for (url, answer) in urls.iter().zip(answers) {
        if let Some(answer) = answer {
            members.push(member(url, &answer)?);
        }
    }
    match members.is_empty() {
        true => {
            let urls: Vec<&str> = urls.iter().map(Url::as_str).collect();
            let urls = match urls.is_empty() {
                true => "its name does not resolve to an address".to_string(),
                false => urls.join(", "),
            };
            Err(Error::new(
                ErrorKind::Unavailable,
                format!("no worker of the cluster answers ({urls})"),
            )
            .advised(
                "start the workers: anonsql worker --listen 127.0.0.1:8000; if they are running, the certificates of \
                both sides must be from the same authority, and the certificate of a worker must be for its name",
            ))
        }
        false => Ok(members),
    }
}

/// Requests the description of a worker. Returns `None` if the worker does not respond.
async fn ask(channels: &Connect, url: &Url) -> Option<String> {
    let asked = async {
        let mut client = channels.get_worker_client_for_url(url).await.ok()?;
        let answer = client.get_worker_info(GetWorkerInfoRequest {}).await;
        answer.ok().map(|answer| answer.version)
    };
    timeout(SILENCE, asked).await.ok().flatten()
}

fn member(url: &Url, answer: &str) -> Result<Member> {
    let words: Vec<&str> = answer.split(' ').collect();
    let [NAME, theirs, threads] = words[..] else {
        return Err(Error::usage(format!("{url} is not a worker of anonsql")));
    };
    if theirs != version() {
        return Err(Error::usage(format!(
            "the worker {url} is anonsql {theirs}, but this is anonsql {}; start the worker again with this version",
            version()
        )));
    }
    Ok(Member {
        url: url.clone(),
        threads: threads.parse().unwrap_or(NonZeroUsize::MIN),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_by_both_names() {
        let url = Url::parse("http://127.0.0.1:8000").unwrap();
        let own = member(&url, &format!("anonsql {} 3", version())).unwrap();
        assert_eq!(own.threads.get(), 3);
        let e = member(&url, "anonsql 0.0.9 3").unwrap_err().to_string();
        assert!(e.contains("0.0.9") && e.contains(version()), "{e}");
        assert!(member(&url, "").unwrap_err().to_string().contains("not a worker"));
    }
}
