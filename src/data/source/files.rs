//! A table over the files that a path names. Each scan lists the files again.
//!
//! This table replaces DataFusion's `ListingTable`, which does not read exactly the files that the
//! path names. Depending on its form, a pattern in a `ListingTable` skips folders named
//! `column=value`, lets `*` match `/`, or is compared only with the first name below the fixed part
//! of the path. A `ListingTable` also skips files in plain folders, and reads hidden files as data.
//! It excludes folders by filters that it does not apply to the rows again, which is wrong for a
//! folder that stands for NULL.

use super::types::Types;
use crate::base::error::Result;
use crate::base::store::Files;
use crate::data::formats::is_log;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, ScalarValue, project_schema};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::listing::helpers::{
    expr_applicable_for_cols, filter_partitioned_file, parse_partitions_for_path,
};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::object_store::ObjectMeta;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion_datasource::TableSchema;
use std::sync::Arc;

/// A table over the files that a path names.
#[derive(Debug)]
pub(crate) struct FileTable {
    /// The files at each location. A release may consist of several folders. The list is never
    /// empty.
    places: Vec<Files>,
    format: Arc<dyn FileFormat>,
    schema: TableSchema,
    /// The schema of the columns whose values are stored in folder names.
    folders: DFSchema,
    /// The folder name that stands for NULL in the columns of `folders`.
    null: &'static str,
    /// The origin of the columns' types.
    types: Types,
}

impl FileTable {
    /// Creates a table over files with `schema`. `folders` are the columns whose values are stored
    /// in folder names, outermost first. The type of these columns is text, and the folder name
    /// `null` stands for NULL.
    pub(crate) fn new(
        places: Vec<Files>,
        format: Arc<dyn FileFormat>,
        schema: SchemaRef,
        folders: &[String],
        null: &'static str,
    ) -> Result<Self> {
        let folder = |name| Arc::new(Field::new(name, DataType::Utf8, true));
        let folders: Vec<FieldRef> = folders.iter().map(folder).collect();
        Ok(Self {
            places,
            format,
            schema: TableSchema::builder(schema)
                .with_table_partition_cols(folders.clone())
                .build(),
            folders: DFSchema::try_from(Schema::new(folders))?,
            null,
            types: Types::OfFormat,
        })
    }

    /// Sets the origin of the columns' types.
    pub(crate) fn with_types(self, types: Types) -> Self {
        Self { types, ..self }
    }

    /// Returns the origin of the columns' types.
    pub(super) fn types(&self) -> Types {
        self.types
    }

    /// Returns the format of the files.
    pub(super) fn format(&self) -> &dyn FileFormat {
        self.format.as_ref()
    }

    /// Returns the files of each location.
    pub(crate) fn places(&self) -> &[Files] {
        &self.places
    }

    fn folders(&self) -> Vec<&str> {
        self.folders
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect()
    }

    /// Returns a file with the values of the folder columns. Returns `None` if the file is empty,
    /// or if it is not inside folders for all folder columns.
    fn file(&self, place: &Files, file: ObjectMeta) -> Option<PartitionedFile> {
        let values = parse_partitions_for_path(place.url(), &file.location, self.folders())?;
        let text = |value: &str| (value != self.null).then(|| value.to_string());
        let values: Vec<ScalarValue> = values.iter().map(|value| ScalarValue::Utf8(text(value))).collect();
        let is_whole = values.len() == self.folders.fields().len();
        let mut read = (is_whole && file.size > 0).then(|| PartitionedFile::from(file))?;
        read.partition_values = values;
        Some(read)
    }
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        // The scan uses a filter only to exclude files, so DataFusion must apply it to the rows,
        // too.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let columns = self.folders();
        let is_of_folders = |filter: &&Expr| !columns.is_empty() && expr_applicable_for_cols(&columns, filter);
        let filters: Vec<Expr> = filters.iter().filter(is_of_folders).cloned().collect();
        let mut files = vec![];
        for place in &self.places {
            let store = session.runtime_env().object_store(place.url())?;
            for file in place.list(store.as_ref(), is_log).await? {
                let Some(file) = self.file(place, file) else { continue };
                files.extend(filter_partitioned_file(file, &filters, &self.folders)?);
            }
        }
        let Some(place) = self.places.first().filter(|_| !files.is_empty()) else {
            let schema = project_schema(&self.schema(), projection)?;
            return Ok(Arc::new(EmptyExec::new(schema)));
        };
        let groups = FileGroup::new(files).split_files(session.config().target_partitions());
        let source = self.format.file_source(self.schema.clone());
        let config = FileScanConfigBuilder::new(place.url().object_store(), source)
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        self.format.create_physical_plan(session, config).await
    }
}
