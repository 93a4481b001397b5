//! The object stores that a session opened itself.

use super::builders::{build, is_of_s3};
use super::traffic::Traffic;
use crate::base::error::{Error, Result};
use crate::base::settings::{S3, Settings};
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectStore;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// The object stores that a session opened itself. The session's configuration contains this value.
/// Stores that the caller registered are not included.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    state: Mutex<State>,
    traffic: Arc<Traffic>,
}

#[derive(Debug, Default)]
struct State {
    s3: S3,
    /// The parameters of each open store. The keys consist of the scheme and the host of a URL.
    opened: HashMap<String, Opened>,
}

#[derive(Debug, PartialEq)]
struct Opened {
    /// The part of the URL between the scheme and the path. For Azure it includes the container.
    authority: String,
    s3: Option<S3>,
}

impl Stores {
    /// Adds an empty set of stores to a session's configuration, unless it already has one.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// Returns the traffic counters of a session's stores.
    pub(crate) fn traffic(config: &SessionConfig) -> Arc<Traffic> {
        let stores = config.get_extension::<Self>();
        stores.map_or_else(Arc::default, |stores| Arc::clone(&stores.traffic))
    }

    /// Updates the S3 settings of the stores from a session's configuration. The sessions for
    /// quoted paths share the stores, but have their own settings.
    pub(crate) fn follow(config: &SessionConfig) {
        if let Some(stores) = config.get_extension::<Self>() {
            stores.state.lock().s3 = Settings::of(config.options()).s3;
        }
    }

    /// Returns true if other processes can access the store of a URL in the same way as this
    /// session: the store is the local file system, or the session opened the store itself.
    pub(crate) fn are_reached_by_others(config: &SessionConfig, url: &Url) -> bool {
        let stores = config.get_extension::<Self>();
        let is_opened = |stores: Arc<Self>| stores.state.lock().opened.contains_key(&key(url));
        url.scheme() == "file" || stores.is_some_and(is_opened)
    }

    /// Returns the store of a URL: the store that the caller registered, or a store opened with the
    /// current settings. Fails with `ErrorKind::Usage` if the scheme is not supported, or if the
    /// session already reads another container of the same Azure account through such a URL.
    pub(crate) fn open(state: &SessionState, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let environment = state.runtime_env();
        let known = environment.object_store_registry.get_store(url);
        let Some(stores) = state.config().get_extension::<Self>() else {
            return Ok(known?);
        };
        let traffic = Arc::clone(&stores.traffic);
        let mut stores = stores.state.lock();
        let key = key(url);
        let needed = Opened {
            authority: url.authority().to_string(),
            s3: is_of_s3(url).then(|| stores.s3.clone()),
        };
        if let Ok(known) = known
            && stores.opened.get(&key).is_none_or(|opened| *opened == needed)
        {
            return Ok(known);
        }
        if let Some(opened) = stores
            .opened
            .get(&key)
            .filter(|opened| opened.authority != needed.authority)
        {
            // DataFusion ignores the part of the URL before the `@` when it looks up a store.
            return Err(Error::usage(format!(
                "this session already reads {}://{}, and such a URL can open only one container of an account; write \
                az://container/ for each container, with AZURE_STORAGE_ACCOUNT_NAME in the environment",
                url.scheme(),
                opened.authority
            )));
        }
        let store = build(url, &stores.s3, &traffic)?;
        environment.register_object_store(url, Arc::clone(&store));
        stores.opened.insert(key, needed);
        Ok(store)
    }
}

/// Returns the key under which DataFusion registers the store of a URL.
fn key(url: &Url) -> String {
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    format!("{}://{host}", url.scheme())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::object_store::memory::InMemory;
    use datafusion::prelude::SessionContext;

    fn open(session: &SessionContext, url: &str) -> Result<Arc<dyn ObjectStore>> {
        Stores::follow(&session.copied_config());
        Stores::open(&session.state(), &Url::parse(url).unwrap())
    }

    #[test]
    fn a_store_is_opened_once_and_again_after_a_set() {
        let session = SessionContext::new();
        Settings::extend(session.state_ref().write().config_mut().options_mut());
        Stores::set(session.state_ref().write().config_mut());
        let first = open(&session, "s3://lake/a").unwrap();
        assert!(Arc::ptr_eq(&first, &open(&session, "s3://lake/b").unwrap()));
        let set = |value| {
            let state = session.state_ref();
            let mut state = state.write();
            let options = state.config_mut().options_mut();
            options.set("anonsql.s3.region", value).unwrap();
        };
        set("eu-central-1");
        assert!(!Arc::ptr_eq(&first, &open(&session, "s3://lake/a").unwrap()));
        let own: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        session.register_object_store(&Url::parse("s3://own").unwrap(), Arc::clone(&own));
        set("us-west-2");
        assert!(
            Arc::ptr_eq(&own, &open(&session, "s3://own/a").unwrap()),
            "it is the caller's"
        );
        assert!(open(&session, "https://example.org/a.csv").is_ok());
        assert!(open(&session, "ftp://example.org/a.csv").is_err());
    }
}
