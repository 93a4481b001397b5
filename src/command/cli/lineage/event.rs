//! Creates events of OpenLineage 2-0-2: <https://openlineage.io/spec/2-0-2/OpenLineage.json>.

use crate::data::folder::{Manifest, Role};
use crate::release::observe::Release;
use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use url::Url;
use uuid::Uuid;

const PRODUCER: &str = concat!("https://github.com/anonsql/anonsql/v", env!("CARGO_PKG_VERSION"));
const EVENT: &str = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
const FACETS: &str = "https://openlineage.io/spec/facets";

/// A release that has begun, and its run in the sense of OpenLineage.
#[derive(Debug)]
pub struct LineageRun {
    id: Uuid,
    target: Dataset,
    sources: BTreeSet<Dataset>,
}

/// The state of a run that an event reports.
pub enum RunState<'a> {
    /// The run began.
    Start,
    /// The release was put in place.
    Complete(&'a Release, &'a Manifest),
    /// The run failed, with this kind of error. The text of the error is omitted, because it may
    /// contain confidential names.
    Fail(&'a str),
}

/// A dataset as OpenLineage identifies it: by the namespace of its store, and by its name in the
/// store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Dataset {
    namespace: String,
    name: String,
}

impl Dataset {
    fn of(place: &str) -> Self {
        if let Ok(url) = Url::parse(place)
            && url.has_host()
        {
            return Self {
                namespace: url[..url::Position::BeforePath].to_string(),
                name: url.path().trim_matches('/').to_string(),
            };
        }
        let path = std::path::absolute(place).map_or_else(|_| place.to_string(), |path| path.display().to_string());
        Self {
            namespace: "file".into(),
            name: path.trim_end_matches('/').to_string(),
        }
    }

    fn with(&self, facets: Value) -> Value {
        json!({"namespace": self.namespace, "name": self.name, "facets": facets})
    }
}

impl LineageRun {
    /// Creates the run of a release. If there are several sources, each file is identified by its
    /// folder, so that the files in a folder form one dataset.
    pub fn new(target: &Path, sources: &[String]) -> Self {
        let folder = |source: &String| match source.rsplit_once('/') {
            Some((folder, _)) if sources.len() > 1 => Dataset::of(folder),
            _ => Dataset::of(source),
        };
        Self {
            id: Uuid::new_v4(),
            target: Dataset::of(&target.display().to_string()),
            sources: sources.iter().map(folder).collect(),
        }
    }

    /// Returns the event that reports `outcome`.
    pub fn event(&self, outcome: RunState<'_>) -> Value {
        let (kind, run, output) = match outcome {
            RunState::Start => ("START", json!({}), json!({})),
            RunState::Complete(release, manifest) => (
                "COMPLETE",
                json!({"anonsql": facet("anonsql", promises(release, manifest))}),
                self.output(manifest),
            ),
            RunState::Fail(message) => {
                let said = json!({"message": message, "programmingLanguage": "SQL"});
                (
                    "FAIL",
                    json!({"errorMessage": facet("1-0-1/ErrorMessageRunFacet", said)}),
                    json!({}),
                )
            }
        };
        let job = json!({"jobType": facet("2-0-3/JobTypeJobFacet",
            json!({"processingType": "BATCH", "integration": "ANONSQL", "jobType": "ANONYMIZE"}))});
        json!({
            "eventType": kind,
            "eventTime": Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
            "producer": PRODUCER,
            "schemaURL": EVENT,
            "run": {"runId": self.id.to_string(), "facets": run},
            "job": {"namespace": self.target.namespace, "name": format!("anonymize {}", self.target.name), "facets": job},
            "inputs": self.sources.iter().map(|source| source.with(json!({}))).collect::<Vec<_>>(),
            "outputs": [self.target.with(output)],
        })
    }

    /// Returns the facets of the released dataset: its columns, and the source columns from which
    /// they were derived.
    fn output(&self, manifest: &Manifest) -> Value {
        let fields = manifest
            .columns
            .iter()
            .map(|c| json!({"name": c.name, "type": c.data_type}));
        let mut lineage = Map::new();
        for column in &manifest.columns {
            let is_of_values = matches!(column.role, Role::Keep | Role::Sensitive | Role::Class);
            let kept = is_of_values && column.mask().is_none();
            let transformation = json!({
                "type": "DIRECT",
                "subtype": if kept { "IDENTITY" } else { "TRANSFORMATION" },
                "description": column.role,
                "masking": !kept,
            });
            let input = |source: &Dataset| {
                json!({"namespace": source.namespace, "name": source.name, "field": column.name,
                       "transformations": [transformation]})
            };
            let inputs: Vec<Value> = self.sources.iter().map(input).collect();
            lineage.insert(column.name.clone(), json!({"inputFields": inputs}));
        }
        json!({
            "schema": facet("1-1-1/SchemaDatasetFacet", json!({"fields": fields.collect::<Vec<_>>()})),
            "columnLineage": facet("1-2-0/ColumnLineageDatasetFacet", json!({"fields": lineage})),
        })
    }
}

/// Returns the checksums, the figures and the checks of a release, for a facet.
fn promises(release: &Release, manifest: &Manifest) -> Value {
    let checks = manifest
        .checks
        .iter()
        .map(|c| json!({"check": c.check, "required": c.required, "reached": c.reached, "ok": c.ok}));
    json!({
        "statementSha256": manifest.statement_sha256,
        "manifestSha256": manifest.sha256,
        "reachedK": release.reached_k,
        "rows": release.rows_out,
        "suppressed": release.rows_suppressed,
        "classes": release.classes,
        "node": manifest.node,
        "checks": checks.collect::<Vec<_>>(),
    })
}

/// Returns a facet with the fields of `content` and the fields that all facets have. `schema`
/// consists of the version and the name of the facet's schema.
fn facet(schema: &str, content: Value) -> Value {
    let mut facet = json!({"_producer": PRODUCER, "_schemaURL": format!("{FACETS}/{schema}.json")});
    if let (Value::Object(facet), Value::Object(content)) = (&mut facet, content) {
        facet.extend(content);
    }
    facet
}
