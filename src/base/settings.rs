//! The settings of a session. `SET anonsql.name = 'value'` changes a setting; `SHOW anonsql.name`
//! and `SHOW ALL` show it.
//!
//! The settings are an extension of DataFusion's configuration, so [`Settings::of`] can read them
//! from a session, a task or a plan.

mod addresses;

use crate::base::catalogue::{Value, duration};
use crate::base::error::{Error, Result};
use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::error::Result as DfResult;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::time::Duration;
use url::Url;

pub(crate) use addresses::{Addresses, WorkerAddress, elsewhere, listening};

/// The implementation that counts the classes of a lattice node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeExecution {
    /// The grouping of this crate, which packs the codes of a row into machine words.
    #[default]
    Fused,
    /// DataFusion, which plans and executes the node like any GROUP BY.
    DataFusion,
}

impl NodeExecution {
    const ALL: &[Self] = &[Self::Fused, Self::DataFusion];

    fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::DataFusion => "datafusion",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|value| value.name().eq_ignore_ascii_case(text));
        let names = Self::ALL.iter().map(|value| value.name());
        found
            .copied()
            .ok_or_else(|| Error::unknown("node execution", text, names))
    }
}

/// The location of the objects in `s3://` URLs. Fields that are not set are taken from the
/// environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct S3 {
    /// The URL of the server.
    pub endpoint: Option<String>,
    /// The region of the buckets.
    pub region: Option<String>,
    /// Whether the server may be accessed without encryption.
    pub allow_http: bool,
}

/// The settings of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The implementation that counts the classes of a lattice node.
    pub node_execution: NodeExecution,
    /// Whether a warning that the request does not accept is an error, and whether VERIFY fails if
    /// it cannot check something.
    pub strict: bool,
    /// The time limit of a search whose statement does not give one; `None` if there is no limit.
    pub time_limit: Option<Duration>,
    /// Whether statements are executed without writing anything.
    pub dry_run: bool,
    /// The approximate maximum number of distinct quasi-identifier combinations that local recoding
    /// compares individually. If a table has more combinations, local recoding divides the classes
    /// of coarser levels instead.
    pub divided_combinations: usize,
    /// The location of the objects in `s3://` URLs.
    pub s3: S3,
    /// The addresses of the workers that statements may use, separated by commas, or the address of
    /// a scheduler of Ballista.
    pub cluster: Option<String>,
    /// The folder with the certificate that is presented to workers, and with the certificate of
    /// the authority that signed the workers' certificates.
    pub cluster_tls: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            node_execution: NodeExecution::default(),
            strict: false,
            time_limit: None,
            dry_run: false,
            divided_combinations: 1 << 21,
            s3: S3::default(),
            cluster: None,
            cluster_tls: None,
        }
    }
}

/// A setting: its name without the prefix `anonsql.`, its summary, and the functions that set and
/// get its value.
struct Setting {
    name: &'static str,
    summary: &'static str,
    set: fn(&mut Settings, &str) -> Result<()>,
    get: fn(&Settings) -> Option<String>,
}

/// All settings.
const SETTINGS: &[Setting] = &[
    Setting {
        name: "node_execution",
        summary: "How the classes of a lattice node are counted: 'fused' by anonsql's own grouping, 'datafusion' by \
                  DataFusion, which can spill to disk; the classes are the same",
        set: |settings, text| {
            settings.node_execution = NodeExecution::parse(text)?;
            Ok(())
        },
        get: |settings| Some(settings.node_execution.name().into()),
    },
    Setting {
        name: "strict",
        summary: "Whether a request with an open warning fails before anything is written, and VERIFY if it lacks a hierarchy, \
                  a manifest or AGAINST to check something: true or false; WITH (strict = ...) in a statement takes \
                  precedence",
        set: |settings, text| {
            settings.strict = boolean(text)?;
            Ok(())
        },
        get: |settings| Some(settings.strict.to_string()),
    },
    Setting {
        name: "time_limit",
        summary: "When a search ends with the best node so far, such as '60s', '5m' or '500ms', unless its statement has \
                  a limit of its own: WITH (time_limit = '60s'); '' means no limit",
        set: |settings, text| {
            settings.time_limit = match text.trim() {
                "" => None,
                text => Some(limit(text)?),
            };
            Ok(())
        },
        get: |settings| settings.time_limit.map(|limit| format!("{}s", limit.as_secs_f64())),
    },
    Setting {
        name: "dry_run",
        summary: "Whether statements do everything except writing: ANONYMIZE reads, searches and returns its summary, \
                  COPY and INSERT \
                  into files do nothing, and no report is written; true or false",
        set: |settings, text| {
            settings.dry_run = boolean(text)?;
            Ok(())
        },
        get: |settings| Some(settings.dry_run.to_string()),
    },
    Setting {
        name: "divided_combinations",
        summary: "The approximate largest number of combinations of quasi-identifier values that local recoding \
                  compares one by one; a larger \
                  table is divided at coarser levels, which loses more and takes less memory",
        set: |settings, text| {
            let number = text.trim().parse().ok().filter(|n| *n > 0);
            settings.divided_combinations =
                number.ok_or_else(|| Error::usage(format!("{text:?} is not a whole number of 1 or more")))?;
            Ok(())
        },
        get: |settings| Some(settings.divided_combinations.to_string()),
    },
    Setting {
        name: "s3.endpoint",
        summary: "The URL of the server of s3://, such as 'https://minio.example.org:9000'; '' is AWS_ENDPOINT_URL, or AWS \
                  itself",
        set: |settings, text| {
            settings.s3.endpoint = endpoint(text)?;
            Ok(())
        },
        get: |settings| settings.s3.endpoint.clone(),
    },
    Setting {
        name: "s3.region",
        summary: "The region of the buckets of s3://, such as 'eu-central-1'; '' is AWS_REGION, or us-east-1",
        set: |settings, text| {
            settings.s3.region = given(text);
            Ok(())
        },
        get: |settings| settings.s3.region.clone(),
    },
    Setting {
        name: "s3.allow_http",
        summary: "Whether the server of s3:// may be reached without encryption, such as a server on this machine: \
                  true or false",
        set: |settings, text| {
            settings.s3.allow_http = boolean(text)?;
            Ok(())
        },
        get: |settings| Some(settings.s3.allow_http.to_string()),
    },
    Setting {
        name: "cluster",
        summary: "The addresses of workers (anonsql worker) that read and write parts of a release, such as \
                  'http://127.0.0.1:8000,http://127.0.0.1:8001', or of a scheduler of Ballista: 'df://127.0.0.1:50050'; \
                  '' means none; only in a build with the feature cluster (or ballista)",
        set: |settings, text| {
            settings.cluster = cluster(text)?;
            Ok(())
        },
        get: |settings| settings.cluster.clone(),
    },
    Setting {
        name: "cluster_tls",
        summary: "The folder with the certificate that is sent to workers at https:// (tls.crt, tls.key), and the \
                  authority of their certificates (ca.crt); '' means none; only in a build with the feature cluster",
        set: |settings, text| {
            settings.cluster_tls = built(text)?;
            Ok(())
        },
        get: |settings| settings.cluster_tls.clone(),
    },
];

fn given(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(String::from)
}

fn endpoint(text: &str) -> Result<Option<String>> {
    let Some(text) = given(text) else {
        return Ok(None);
    };
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => match Error::of_credentials(&url) {
            Some(refused) => Err(refused),
            None => Ok(Some(text)),
        },
        _ => Err(Error::usage(format!(
            "{text:?} is not a server; write its URL: 'https://minio.example.org:9000'"
        ))),
    }
}

fn cluster(text: &str) -> Result<Option<String>> {
    let given = built(text)?;
    given.as_deref().map(str::parse::<Addresses>).transpose()?;
    Ok(given)
}

/// Converts the value of a cluster setting. Fails if this build does not support clusters.
fn built(text: &str) -> Result<Option<String>> {
    match given(text) {
        Some(_) if !cfg!(feature = "cluster") => Err(Error::usage(
            "this anonsql was built without the cluster; build it with --features cluster",
        )),
        given => Ok(given),
    }
}

fn limit(text: &str) -> Result<Duration> {
    duration(&Value::Text(text.into())).ok_or_else(|| {
        Error::usage(format!(
            "{text:?} is not a time; write '60s', '5m' or '500ms', or '' for no limit"
        ))
    })
}

fn boolean(text: &str) -> Result<bool> {
    text.to_ascii_lowercase()
        .parse()
        .map_err(|_| Error::usage(format!("{text:?} is neither true nor false")))
}

impl Settings {
    /// Returns the settings in a configuration, or the defaults if the configuration has none.
    pub fn of(options: &ConfigOptions) -> Self {
        options.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Adds the default settings to a configuration without settings, so that SET and SHOW accept
    /// them.
    pub(crate) fn extend(options: &mut ConfigOptions) {
        if options.extensions.get::<Self>().is_none() {
            options.extensions.insert(Self::default());
        }
    }
}

impl ConfigExtension for Settings {
    const PREFIX: &'static str = "anonsql";
}

impl ExtensionOptions for Settings {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> DfResult<()> {
        let found = SETTINGS.iter().find(|s| s.name == key);
        let setting = found.ok_or_else(|| Error::unknown("setting", key, SETTINGS.iter().map(|s| s.name)))?;
        (setting.set)(self, value).map_err(|e| e.context(format_args!("{}.{key}", Self::PREFIX)))?;
        Ok(())
    }

    /// Returns the entries with the prefix as a part of their names, because DataFusion does not
    /// add the prefix, and SHOW looks for the name that is used in SET.
    fn entries(&self) -> Vec<ConfigEntry> {
        let entry = |setting: &Setting| ConfigEntry {
            key: format!("{}.{}", Self::PREFIX, setting.name),
            value: (setting.get)(self),
            description: setting.summary,
        };
        SETTINGS.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_reads_back_as_it_was_set() {
        let mut options = ConfigOptions::new();
        assert_eq!(Settings::of(&options), Settings::default());
        Settings::extend(&mut options);
        for value in NodeExecution::ALL {
            options.set("anonsql.node_execution", value.name()).unwrap();
            // Creating a second context in the same session does not reset changed settings.
            Settings::extend(&mut options);
            assert_eq!(Settings::of(&options).node_execution, *value);
            let entry = options
                .entries()
                .into_iter()
                .find(|e| e.key == "anonsql.node_execution");
            assert_eq!(entry.unwrap().value.as_deref(), Some(value.name()));
        }
    }

    #[test]
    fn a_limit_can_be_taken_back() {
        let mut options = ConfigOptions::new();
        Settings::extend(&mut options);
        for (text, limit, shown) in [
            ("90s", Some(Duration::from_secs(90)), Some("90s")),
            ("250ms", Some(Duration::from_millis(250)), Some("0.25s")),
            ("", None, None),
        ] {
            options.set("anonsql.time_limit", text).unwrap();
            assert_eq!(Settings::of(&options).time_limit, limit);
            let mut entries = options.entries().into_iter();
            let entry = entries.find(|e| e.key == "anonsql.time_limit");
            assert_eq!(entry.unwrap().value.as_deref(), shown);
        }
        options.set("anonsql.dry_run", "TRUE").unwrap();
        assert!(Settings::of(&options).dry_run);
        for (endpoint, read) in [(" http://h:1 ", Some("http://h:1")), ("", None)] {
            options.set("anonsql.s3.endpoint", endpoint).unwrap();
            assert_eq!(Settings::of(&options).s3.endpoint.as_deref(), read);
        }
    }

    #[test]
    fn what_is_unknown_is_refused_by_name() {
        let mut options = ConfigOptions::new();
        Settings::extend(&mut options);
        for (key, value, said) in [
            ("anonsql.node_executor", "fused", "did you mean \"node_execution\"?"),
            ("anonsql.node_execution", "fuse", "did you mean \"fused\"?"),
            ("anonsql.time_limit", "soon", "\"soon\" is not a time"),
            ("anonsql.time_limit", "-1s", "\"-1s\" is not a time"),
            ("anonsql.dry_run", "maybe", "neither true nor false"),
            ("anonsql.divided_combinations", "0", "\"0\" is not a whole number"),
            ("anonsql.divided_combinations", "many", "\"many\" is not a whole number"),
            (
                "anonsql.cluster",
                "http://10.0.0.7:8000",
                match cfg!(feature = "cluster") {
                    true => "on another machine",
                    false => "built without the cluster",
                },
            ),
            ("anonsql.s3.endpoint", "minio", "is not a server"),
            ("anonsql.s3.endpoint", "http://a:b@minio", "in the environment"),
            ("anonsql.s3.regoin", "eu", "did you mean \"s3.region\"?"),
        ] {
            let error = options.set(key, value).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
