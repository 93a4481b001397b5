//! Implements the operations of statements and releases for a version of a Delta table.

use super::commit::commit;
use super::entry::commit_info;
use super::error::failed;
use super::line::ENTRY;
use super::table::{DeltaVersion, log};
use crate::base::error::Result;
use crate::data::formats::change::{Change, CommitOutcome, MANIFEST_TEXT, RELEASE};
use crate::data::formats::heads::{NamedFile, looked_up};
use crate::data::formats::pinned::{LoggedTable, PinnedFile, PinnedTable, ScanParameters};
use crate::data::formats::place::Place;
use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, Schema};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use deltalake_core::delta_datafusion::{DeltaScanConfig, DeltaScanNext};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

#[async_trait]
impl PinnedTable for DeltaVersion {
    fn format(&self) -> &'static str {
        ENTRY.word
    }

    fn name(&self) -> String {
        self.place.name()
    }

    fn input(&self) -> String {
        self.place.url.clone()
    }

    fn version(&self) -> u64 {
        self.snapshot.version()
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    fn has_file(&self, name: &str) -> bool {
        name.starts_with(&self.name())
    }

    async fn files(&self) -> Result<Vec<PinnedFile>> {
        let named = |(called, bytes): &(String, u64)| {
            let path = self.place.file(called)?;
            let local = self.place.local().map(|_| PathBuf::from(format!("/{path}")));
            let name = match &local {
                Some(local) => local.display().to_string(),
                None => format!("{}{called}", self.place.url),
            };
            let (called, bytes) = (called.clone(), *bytes);
            Ok(NamedFile {
                called,
                name,
                path,
                local,
                bytes,
            })
        };
        let files: Vec<NamedFile> = self.files.iter().map(named).collect::<Result<_>>()?;
        let version = format!("version {} of the Delta table {}", self.version(), self.place.url);
        let gone = "the table was vacuumed in the meantime, or is not whole; read a newer version";
        looked_up(&self.place.store, files, &version, gone).await
    }

    fn rows(&self, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
        let config = DeltaScanConfig::new_from_session(state).with_wrap_partition_values(false);
        let scan = DeltaScanNext::new(Arc::clone(&self.snapshot), config)?;
        Ok(Arc::new(scan))
    }

    async fn scan(
        &self,
        rows: &dyn TableProvider,
        session: &dyn Session,
        asked: ScanParameters<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = rows.scan(session, asked.projection, asked.filters, asked.limit);
        Ok(plan.await?)
    }

    /// Returns true if the filter uses only partition columns and columns of whole numbers or
    /// dates, because their bounds are exact. Other bounds are not exact: decimals and doubles are
    /// rounded to the precision of a double and ignore NaN, times are truncated to milliseconds,
    /// and texts to their first characters.
    fn decides(&self, filter: &Expr, schema: &Schema) -> bool {
        let partitions = self.snapshot.metadata().partition_columns();
        let is_decided = |name: &str| {
            let data_type = schema.field_with_name(name).map(|field| plain_type(field.data_type()));
            let is_bounded = |data_type: &DataType| data_type.is_integer() || *data_type == DataType::Date32;
            partitions.iter().any(|column| column == name) || data_type.is_ok_and(is_bounded)
        };
        filter.column_refs().iter().all(|column| is_decided(&column.name))
    }

    /// Deletion vectors are applied by an operator that requires its own reader.
    fn reads_by_place(&self) -> bool {
        self.deletes_rows
    }

    fn is_divided(&self) -> bool {
        true
    }
}

#[async_trait]
impl LoggedTable for DeltaVersion {
    fn place(&self) -> &Place {
        &self.place
    }

    fn properties(&self) -> &HashMap<String, String> {
        self.snapshot.metadata().configuration()
    }

    fn data_files(&self) -> &[(String, u64)] {
        &self.files
    }

    fn deletes_rows(&self) -> bool {
        self.deletes_rows
    }

    async fn manifest_in_log(&self, run: &str) -> Result<Option<String>> {
        let log = log(&self.place)?;
        for version in (0..=self.version()).rev() {
            let entry = log.read_commit_entry(version).await;
            let entry = entry.map_err(|e| failed(format!("cannot read the log of {}", self.place.url), &e))?;
            let Some(told) = entry.as_deref().and_then(commit_info) else {
                // A cleanup has removed this entry and all older entries.
                break;
            };
            if told.get(RELEASE).and_then(Value::as_str) == Some(run) {
                return Ok(told.get(MANIFEST_TEXT).and_then(Value::as_str).map(String::from));
            }
        }
        Ok(None)
    }

    async fn commit(&self, change: Change) -> CommitOutcome {
        commit(&self.place, Some(self), change).await
    }
}
