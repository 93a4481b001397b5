//! Opens the object store of a URL with the credentials of the environment. Each URL scheme has its
//! own builder.

use super::profile;
use super::traffic::{Counting, Traffic};
use crate::base::error::{Error, Result};
use crate::base::settings::S3;
use datafusion::object_store::{self, ClientOptions, ObjectStore};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use std::sync::Arc;
use url::Url;

/// The supported URL schemes, as they are listed in messages.
const SCHEMES: &str = "s3://, gs://, az://, abfss://, https:// and file://";

/// Returns true if a URL names an object in S3.
pub(super) fn is_of_s3(url: &Url) -> bool {
    matches!(url.scheme(), "s3" | "s3a")
}

/// Opens the object store of a URL. Fails with `ErrorKind::Usage` if the URL has no host, if its
/// scheme is not supported, or if the builder rejects the settings.
pub(crate) fn build(url: &Url, settings: &S3, traffic: &Arc<Traffic>) -> Result<Arc<dyn ObjectStore>> {
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| {
        Error::usage(format!(
            "{url} names no bucket, container or host; write s3://bucket/folder/"
        ))
    })?;
    let connector = Counting(Arc::clone(traffic));
    let refused = |e: object_store::Error| Error::usage(format!("{}://{host} cannot be opened: {e}", url.scheme()));
    Ok(match url.scheme() {
        "s3" | "s3a" => Arc::new(
            s3(host, settings)?
                .with_http_connector(connector)
                .build()
                .map_err(refused)?,
        ),
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(host)
                .with_http_connector(connector);
            Arc::new(builder.build().map_err(refused)?)
        }
        "az" | "adl" | "azure" | "abfs" | "abfss" => {
            let builder = MicrosoftAzureBuilder::from_env()
                .with_url(&url[..url::Position::AfterPort])
                .with_http_connector(connector);
            Arc::new(builder.build().map_err(refused)?)
        }
        "http" | "https" => {
            // The URL in the statement decides whether the connection is encrypted.
            let options = ClientOptions::new().with_allow_http(url.scheme() == "http");
            let builder = HttpBuilder::new()
                .with_url(&url[..url::Position::AfterPort])
                .with_client_options(options)
                .with_http_connector(connector);
            Arc::new(builder.build().map_err(refused)?)
        }
        other => {
            return Err(Error::usage(format!(
                "{other}:// is not a scheme that this session reads or writes; it knows {SCHEMES}: use a \
                 local path, or, in Rust, register an object store for it"
            )));
        }
    })
}

fn s3(bucket: &str, settings: &S3) -> Result<AmazonS3Builder> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let is_given = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
    if !is_given(&builder, AmazonS3ConfigKey::AccessKeyId)
        && let Some(profile) = profile::of_environment()?
    {
        builder = profile.set(builder);
    }
    if let Some(region) = &settings.region {
        builder = builder.with_region(region);
    }
    if settings.allow_http {
        builder = builder.with_allow_http(true);
    }
    if let Some(endpoint) = &settings.endpoint {
        if endpoint.starts_with("http://") && !settings.allow_http {
            return Err(Error::usage(format!(
                "the connection to the server {endpoint} would not be encrypted; if this is intended, SET \
                anonsql.s3.allow_http = true"
            )));
        }
        builder = builder.with_endpoint(endpoint);
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn a_store_is_opened_by_its_scheme() {
        let open = |url: &str, settings: &S3| build(&Url::parse(url).unwrap(), settings, &Arc::default());
        let plain = S3 {
            endpoint: Some("http://127.0.0.1:9".into()),
            ..S3::default()
        };
        let allowed = S3 {
            allow_http: true,
            ..plain.clone()
        };
        assert!(open("s3://lake/a", &allowed).unwrap().to_string().contains("lake"));
        assert!(open("https://example.org/a.csv", &plain).is_ok());
        for (url, said) in [
            ("s3://lake/a", "SET anonsql.s3.allow_http = true"),
            ("hdfs://lake/a", "hdfs:// is not a scheme"),
        ] {
            let e = open(url, &plain).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Usage);
            assert!(e.message().contains(said), "{e}");
        }
    }
}
