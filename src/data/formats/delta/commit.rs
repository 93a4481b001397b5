//! Commits to a Delta table: writes one entry to the log, unless the log already has an entry with
//! its number.

use super::entry::commit_info;
use super::error::failed;
use super::table::{DeltaVersion, log};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::formats::change::{Addition, Change, CommitOutcome, MANIFEST_TEXT, RELEASE};
use crate::data::formats::place::Place;
use chrono::Utc;
use deltalake_core::DeltaTableError;
use deltalake_core::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake_core::kernel::transaction::{CommitBuilder, TableReference, TransactionError};
use deltalake_core::kernel::{Action, Add, Metadata, MetadataExt, Protocol, StructType, new_metadata};
use deltalake_core::logstore::LogStoreRef;
use deltalake_core::protocol::{DeltaOperation, SaveMode};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The table feature for timestamps without a time zone.
const WITHOUT_ZONE: &str = "timestampNtz";
/// The features that a table has if its log names no features.
const ALWAYS: [&str; 2] = ["appendOnly", "invariants"];
/// The prefix of properties that anonsql sets.
const OWN: &str = "anonsql.";

/// Commits a change as the next version of the table at `place`: the version after `before`, or the
/// first version.
pub(super) async fn commit(place: &Place, before: Option<&DeltaVersion>, change: Change) -> CommitOutcome {
    let doing = format!("cannot commit to the Delta table {}", place.url);
    let parts = log(place).and_then(|log| Ok((log, actions(before, &change, &doing)?)));
    let (log, actions) = match parts {
        Ok(parts) => parts,
        Err(e) => return CommitOutcome::Failed(e),
    };
    let information = change.properties.iter();
    let information = information.map(|(name, text)| (name.clone(), json!(text)));
    let manifest = (MANIFEST_TEXT.to_string(), json!(change.manifest));
    let information: HashMap<String, Value> = information.chain([manifest]).collect();
    let operation = DeltaOperation::Write {
        mode: match (before, change.adds) {
            (Some(_), true) => SaveMode::Append,
            (Some(_), false) => SaveMode::Overwrite,
            (None, _) => SaveMode::ErrorIfExists,
        },
        partition_by: (!change.partitioned_by.is_empty()).then(|| change.partitioned_by.clone()),
        predicate: None,
    };
    let snapshot = before.map(|table| table.snapshot.as_ref() as &dyn TableReference);
    let prepared = CommitBuilder::default()
        .with_actions(actions)
        .with_app_metadata(information)
        // There is no retry, because the other commit may have been another release.
        .with_max_retries(0)
        .build(snapshot, log.clone(), operation)
        .into_prepared_commit_future()
        .await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(e) => return CommitOutcome::Failed(failed(doing, &e)),
    };
    // The work that `deltalake-core` does after a commit is skipped, because it may fail although
    // the commit succeeded.
    match prepared.await {
        Ok(_) => CommitOutcome::Committed,
        Err(e) => {
            let next = before.map_or(0, |table| table.snapshot.version() + 1);
            found_out(&log, next, &change, &e, &doing).await
        }
    }
}

/// Determines the outcome of a commit that failed with `error`. The store may have written the log
/// entry: if the response to a request was lost, the client repeats the request, and the store then
/// rejects it because the entry exists.
async fn found_out(
    log: &LogStoreRef,
    version: u64,
    change: &Change,
    error: &DeltaTableError,
    doing: &str,
) -> CommitOutcome {
    let is_late = matches!(
        error,
        DeltaTableError::VersionAlreadyExists(_)
            | DeltaTableError::Transaction {
                source: TransactionError::MaxCommitAttempts(_)
                    | TransactionError::CommitConflict(_)
                    | TransactionError::VersionAlreadyExists(_)
            }
    );
    match log.read_commit_entry(version).await {
        Ok(Some(entry)) if is_own(&entry, change) => CommitOutcome::Committed,
        Ok(Some(entry)) if is_release(&entry) => CommitOutcome::Late,
        // The next run reads the version that the other tool committed. It then continues, or fails
        // with a specific error.
        Ok(Some(_)) => CommitOutcome::Failed(Error::new(
            ErrorKind::Unavailable,
            format!(
                "{doing}: another tool committed to it in the meantime; nothing of this run was published, run it again"
            ),
        )),
        _ if is_late => CommitOutcome::Late,
        // Without a response, it is unknown whether the store will still write the entry.
        _ => CommitOutcome::Unknown(failed(doing, error)),
    }
}

/// Returns true if a log entry is the commit of a release.
fn is_release(entry: &[u8]) -> bool {
    commit_info(entry).is_some_and(|told| told.get(RELEASE).is_some())
}

/// Returns true if a log entry is the commit of this change.
fn is_own(entry: &[u8], change: &Change) -> bool {
    let is_said = |told: &Value, (name, text): (&String, &String)| told.get(name).and_then(Value::as_str) == Some(text);
    let is_own = |told: Value| change.properties.iter().all(|property| is_said(&told, property));
    commit_info(entry).is_some_and(is_own)
}

fn actions(before: Option<&DeltaVersion>, change: &Change, doing: &str) -> Result<Vec<Action>> {
    let schema: StructType = change
        .schema
        .as_ref()
        .try_into_kernel()
        .map_err(|e| Error::usage(format!("{doing}: {e}")))?;
    let is_without_zone = serde_json::to_string(&schema).is_ok_and(|text| text.contains("\"timestamp_ntz\""));
    let mut actions: Vec<Action> = protocol(before, is_without_zone, doing)?
        .map(Action::Protocol)
        .into_iter()
        .collect();
    actions.push(Action::Metadata(metadata(before, change, &schema, doing)?));
    let replaced = before.filter(|_| !change.adds);
    actions.extend(
        replaced
            .into_iter()
            .flat_map(DeltaVersion::removals)
            .map(Action::Remove),
    );
    let now = Utc::now().timestamp_millis();
    let additions = change.additions.iter();
    actions.extend(additions.map(|addition| Action::Add(added(addition, now))));
    Ok(actions)
}

fn added(addition: &Addition, now: i64) -> Add {
    Add {
        path: addition.path.clone(),
        partition_values: addition.partition.iter().cloned().collect(),
        size: i64::try_from(addition.bytes).unwrap_or(i64::MAX),
        modification_time: now,
        data_change: true,
        stats: Some(addition.statistics.clone()),
        ..Add::default()
    }
}

fn metadata(before: Option<&DeltaVersion>, change: &Change, schema: &StructType, doing: &str) -> Result<Metadata> {
    // Properties from other tools are kept, such as the retention of the log.
    let kept = before.map(|table| table.snapshot.metadata().configuration());
    let kept = kept.into_iter().flatten();
    let kept = kept.filter(|(name, _)| !name.starts_with(OWN));
    let configuration: HashMap<&String, &String> = kept.chain(&change.properties).collect();
    if let Some(name) = configuration.keys().find(|name| is_binding(name)) {
        return Err(Error::usage(format!(
            "{doing}: the table has the property {name}, which restricts its columns; write to another table"
        )));
    }
    let metadata = new_metadata(schema, &change.partitioned_by, configuration);
    let metadata = metadata.and_then(|metadata| match before {
        Some(table) => metadata.with_table_id(table.snapshot.metadata().id().to_string()),
        None => Ok(metadata),
    });
    metadata.map_err(|e| failed(doing, &e.into()))
}

/// Returns true if a property of a table restricts its columns.
fn is_binding(name: &str) -> bool {
    name.starts_with("delta.constraints.") || name == "delta.columnMapping.mode"
}

/// Returns the protocol to which the table must be upgraded; `None` if its own protocol is
/// sufficient.
fn protocol(before: Option<&DeltaVersion>, is_without_zone: bool, doing: &str) -> Result<Option<Protocol>> {
    let broken = |e: serde_json::Error| Error::internal(format!("a protocol cannot be written as JSON: {e}"));
    let made = |value: Value| serde_json::from_value(value).map(Some).map_err(broken);
    let Some(table) = before else {
        return match is_without_zone {
            true => made(with_features(&[], &ALWAYS)),
            false => made(json!({"minReaderVersion": 1, "minWriterVersion": 2})),
        };
    };
    let own = serde_json::to_value(table.snapshot.protocol()).map_err(broken)?;
    let features = |which: &str| -> Vec<String> {
        let listed = own.get(which).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).map(String::from).collect()
    };
    let (reader, writer) = (features("readerFeatures"), features("writerFeatures"));
    if !is_without_zone || reader.iter().any(|feature| feature == WITHOUT_ZONE) {
        return Ok(None);
    }
    let version = |which: &str| own.get(which).and_then(Value::as_i64).unwrap_or_default();
    match (version("minReaderVersion"), version("minWriterVersion")) {
        (1, ..=2) => made(with_features(&[], &ALWAYS)),
        (_, 7) => {
            let reader: Vec<&str> = reader.iter().map(String::as_str).collect();
            let writer: Vec<&str> = writer.iter().map(String::as_str).collect();
            made(with_features(&reader, &writer))
        }
        _ => Err(Error::usage(format!(
            "{doing}: the release has times without a zone, for which another tool would have to upgrade the table first; \
             write to another table"
        ))),
    }
}

fn with_features(reader: &[&str], writer: &[&str]) -> Value {
    let (reader, writer) = ([reader, &[WITHOUT_ZONE]].concat(), [writer, &[WITHOUT_ZONE]].concat());
    json!({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": reader, "writerFeatures": writer})
}
