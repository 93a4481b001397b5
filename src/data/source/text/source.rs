//! Replaces DataFusion's sources for CSV and JSON files in a plan.

use super::opener::{TextFormat, TextOpener};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::{
    CsvSource, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource, JsonSource,
};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use std::fmt;
use std::sync::Arc;

/// Adds checks to a reader of CSV or JSON files. Returns any other operator unchanged.
pub(in crate::data::source) fn with_checks(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let source = plan.downcast_ref::<DataSourceExec>();
    let config = source.and_then(|s| s.data_source().downcast_ref::<FileScanConfig>());
    let Some((config, format)) = config.and_then(|config| Some((config, format(config.file_source().as_ref())?)))
    else {
        return plan;
    };
    let checked = TextSource {
        replaced: Arc::clone(config.file_source()),
        format,
        batch_size: None,
    };
    let config = FileScanConfigBuilder::from(config.clone()).with_source(Arc::new(checked));
    DataSourceExec::from_data_source(config.build())
}

fn format(source: &dyn FileSource) -> Option<TextFormat> {
    let csv = source.downcast_ref::<CsvSource>();
    let csv = csv.map(|csv| TextFormat::Csv(Arc::new(csv.clone())));
    csv.or_else(|| source.is::<JsonSource>().then_some(TextFormat::Json))
}

/// A source whose files [`TextOpener`] opens. In all other respects, it behaves like the DataFusion
/// source that it replaces.
#[derive(Clone)]
struct TextSource {
    replaced: Arc<dyn FileSource>,
    format: TextFormat,
    batch_size: Option<usize>,
}

impl FileSource for TextSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        _: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let schema = self.table_schema().file_schema();
        let projection = match self.projection() {
            Some(projection) => SplitProjection::new(schema, projection),
            None => SplitProjection::unprojected(self.table_schema()),
        };
        let batch_size = self
            .batch_size
            .ok_or_else(|| DataFusionError::Internal("a source is opened without the size of its batches".into()))?;
        let opener = TextOpener {
            store,
            url: config.object_store_url.clone(),
            compression: config.file_compression_type,
            format: self.format.clone(),
            schema: Arc::clone(schema),
            columns: projection.file_indices.clone(),
            batch_size,
        };
        ProjectionOpener::try_new(projection, Arc::new(opener), schema)
    }

    fn table_schema(&self) -> &TableSchema {
        self.replaced.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self {
            batch_size: Some(batch_size),
            ..self.clone()
        })
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.replaced.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.replaced.metrics()
    }

    fn file_type(&self) -> &str {
        self.replaced.file_type()
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        self.replaced.fmt_extra(t, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.replaced.supports_repartitioning()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.replaced.apply_expressions(f)
    }
}
