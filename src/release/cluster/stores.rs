//! The object stores of a worker. A worker opens the stores that a plan names with the credentials
//! in its own environment.
//!
//! A plan is sent with the settings `anonsql.s3.*`, which locate the objects of `s3://` URLs and
//! are not secret. A worker opens separate stores for drivers with different settings.

use crate::base::error::{Error, Result};
use crate::base::settings::S3;
use crate::base::store::{Traffic, build};
use datafusion::error::Result as DfResult;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::ObjectStore;
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// The request header that contains the settings `anonsql.s3.*`.
const S3_IS: HeaderName = HeaderName::from_static("anonsql-s3");

/// Returns the headers of requests that send plans of a session with these settings. Fails with
/// `ErrorKind::Internal` if the settings are not valid as a header.
pub(super) fn headers_of(s3: &S3) -> Result<HeaderMap> {
    let refused = || Error::internal("settings of s3:// that cannot be a header");
    let text = serde_json::to_string(s3).map_err(|_| refused())?;
    let value = HeaderValue::from_str(&text).map_err(|_| refused())?;
    Ok(HeaderMap::from_iter([(S3_IS, value)]))
}

/// The runtime environments of a worker, one for each combination of `anonsql.s3.*` settings. All
/// environments share the worker's memory and disk.
#[derive(Debug)]
pub(super) struct Environments {
    own: Arc<RuntimeEnv>,
    known: Mutex<HashMap<S3, Arc<RuntimeEnv>>>,
}

impl Environments {
    /// Creates an empty set of environments. All environments share the memory and the disk of
    /// `own`.
    pub(super) fn over(own: Arc<RuntimeEnv>) -> Self {
        Self {
            own,
            known: Mutex::default(),
        }
    }

    /// Returns the environment for a plan that was sent with these headers.
    pub(super) fn of(&self, headers: &HeaderMap) -> Arc<RuntimeEnv> {
        let text = headers.get(S3_IS).and_then(|value| value.to_str().ok());
        let s3: Option<S3> = text.and_then(|text| serde_json::from_str(text).ok());
        self.at(&s3.unwrap_or_default())
    }

    /// Returns the environment for these settings, and creates it when it is first needed.
    pub(super) fn at(&self, s3: &S3) -> Arc<RuntimeEnv> {
        let mut known = self.known.lock();
        let environment = known.entry(s3.clone()).or_insert_with(|| {
            let opens = Opens {
                known: DefaultObjectStoreRegistry::new(),
                s3: s3.clone(),
            };
            Arc::new(RuntimeEnv {
                object_store_registry: Arc::new(opens),
                ..self.own.as_ref().clone()
            })
        });
        Arc::clone(environment)
    }
}

/// A registry that opens a store when it is first needed.
#[derive(Debug)]
struct Opens {
    known: DefaultObjectStoreRegistry,
    s3: S3,
}

impl ObjectStoreRegistry for Opens {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> DfResult<Arc<dyn ObjectStore>> {
        if let Ok(known) = self.known.get_store(url) {
            return Ok(known);
        }
        let store = build(url, &self.s3, &Arc::<Traffic>::default())?;
        self.known.register_store(url, Arc::clone(&store));
        Ok(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_opened_once_for_each_place_of_s3() {
        let environments = Environments::over(Arc::default());
        let here = S3 {
            endpoint: Some("http://127.0.0.1:9000".into()),
            region: Some("eu-central-1".into()),
            allow_http: true,
        };
        let store = |s3: &S3| {
            let environment = environments.of(&headers_of(s3).unwrap());
            let url = Url::parse("s3://lake/a").unwrap();
            environment.object_store_registry.get_store(&url).unwrap()
        };
        assert!(Arc::ptr_eq(&store(&here), &store(&here)));
        assert!(!Arc::ptr_eq(&store(&here), &store(&S3::default())));
        assert_eq!(headers_of(&here).unwrap().len(), 1);
        let none = environments.of(&HeaderMap::new());
        assert!(Arc::ptr_eq(
            &none,
            &environments.of(&headers_of(&S3::default()).unwrap())
        ));
    }
}
