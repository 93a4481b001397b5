//! Reports failed workers to the observer of a statement. The statement continues without these
//! workers, but they need attention.

use super::greet::Member;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

/// A problem of a worker that is reported to the observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// The worker does not respond, or did not send all of its rows.
    Lost,
    /// The worker returned a result that does not match its task.
    Distrusted,
}

/// A function that receives the address of a worker and the problem.
type Tell = dyn Fn(&str, Trouble) + Send + Sync;

/// Calls a function for each problem of a worker, once for each pair of worker and problem.
pub(crate) struct TroubleReporter {
    tell: Box<Tell>,
    /// The pairs of worker and problem for which the function was already called.
    troubled: Mutex<BTreeSet<(String, Trouble)>>,
    /// The workers that are expected to respond: those whose addresses the setting names, and those
    /// that have responded before.
    expected: Mutex<BTreeSet<Url>>,
}

impl TroubleReporter {
    /// Sets the function that the clusters of a session call.
    pub(crate) fn enable(config: &mut SessionConfig, tell: impl Fn(&str, Trouble) + Send + Sync + 'static) {
        config.set_extension(Arc::new(Self {
            tell: Box::new(tell),
            troubled: Mutex::default(),
            expected: Mutex::default(),
        }));
    }

    /// Adds workers that are expected to respond.
    pub(super) fn expect(&self, workers: impl Iterator<Item = Url>) {
        self.expected.lock().extend(workers);
    }

    /// Calls the function for each expected worker that is missing from `now`. From then on, all
    /// workers in `now` are expected to respond.
    pub(super) fn answered(&self, now: &[Member]) {
        let expected = self.expected.lock().clone();
        let silent = expected
            .iter()
            .filter(|url| !now.iter().any(|member| member.url == **url));
        silent.for_each(|url| self.tell(url.as_str(), Trouble::Lost));
        self.expect(now.iter().map(|member| member.url.clone()));
    }

    /// Calls the function for a worker, unless it was already called for the same problem of the
    /// same worker.
    pub(super) fn tell(&self, worker: &str, trouble: Trouble) {
        let is_new = self.troubled.lock().insert((worker.to_string(), trouble));
        if is_new {
            (self.tell)(worker, trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    #[test]
    fn who_answers_no_more_is_told_once() {
        let (mut config, told) = (SessionConfig::new(), Arc::new(Mutex::new(vec![])));
        let calls = Arc::clone(&told);
        TroubleReporter::enable(&mut config, move |worker, trouble| {
            calls.lock().push((worker.to_string(), trouble));
        });
        let cluster = config.get_extension::<TroubleReporter>().unwrap();
        let [named, found, new] = ["a", "b", "c"].map(|name| Url::parse(&format!("http://{name}:8000")).unwrap());
        let answers = |urls: &[&Url]| {
            let threads = NonZeroUsize::MIN;
            let members = urls.iter().map(|url| Member {
                url: (*url).clone(),
                threads,
            });
            cluster.answered(&members.collect::<Vec<_>>());
            std::mem::take(&mut *told.lock())
        };
        cluster.expect(std::iter::once(named.clone()));
        assert!(answers(&[&named, &found]).is_empty());
        assert_eq!(answers(&[&named, &new]), [(found.to_string(), Trouble::Lost)]);
        assert!(answers(&[&named, &new]).is_empty());
        assert_eq!(answers(&[&new]), [(named.to_string(), Trouble::Lost)]);
    }
}
