//! The function that is called for workers that fail. The statement continues without these
//! workers, but they need attention.

use super::greet::Member;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

/// The trouble with a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// The worker does not answer, or did not send all of its rows.
    Lost,
    /// The worker reported something other than what was requested.
    Distrusted,
}

/// A function of the address of a worker and its trouble.
type Tell = dyn Fn(&str, Trouble) + Send + Sync;

/// The function that is called with the address of a worker and its trouble, once for each such
/// pair.
pub(crate) struct Told {
    tell: Box<Tell>,
    /// The pairs of worker and trouble that were already reported.
    troubled: Mutex<BTreeSet<(String, Trouble)>>,
    /// The workers that must answer, because they are named or have answered before.
    expected: Mutex<BTreeSet<Url>>,
}

impl Told {
    /// Makes the clusters of a statement call `tell`.
    pub(crate) fn enable(config: &mut SessionConfig, tell: impl Fn(&str, Trouble) + Send + Sync + 'static) {
        config.set_extension(Arc::new(Self {
            tell: Box::new(tell),
            troubled: Mutex::default(),
            expected: Mutex::default(),
        }));
    }

    /// Expects these workers to answer.
    pub(super) fn expect(&self, workers: impl Iterator<Item = Url>) {
        self.expected.lock().extend(workers);
    }

    /// Calls the function for the expected workers that are not among those that answered now.
    pub(super) fn answered(&self, now: &[Member]) {
        let expected = self.expected.lock().clone();
        let silent = expected
            .iter()
            .filter(|url| !now.iter().any(|member| member.url == **url));
        silent.for_each(|url| self.tell(url.as_str(), Trouble::Lost));
        self.expect(now.iter().map(|member| member.url.clone()));
    }

    /// Calls the function for a worker, unless it was already called with this trouble of the
    /// worker.
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
        Told::enable(&mut config, move |worker, trouble| {
            calls.lock().push((worker.to_string(), trouble));
        });
        let cluster = config.get_extension::<Told>().unwrap();
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
