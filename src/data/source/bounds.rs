//! Removes the bounds of floating-point columns. The bounds in Parquet files ignore NaN, and
//! DataFusion 55.2 treats a column with equal bounds as a constant: a file with 0.25 and NaN would
//! be read as 0.25 and 0.25.

use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Removes the bounds of floating-point columns from a file reader. Returns any other operator
/// unchanged.
pub(crate) fn without_bounds_of_floats(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let source = plan.downcast_ref::<DataSourceExec>();
    let Some(config) = source.and_then(|s| s.data_source().downcast_ref::<FileScanConfig>()) else {
        return plan;
    };
    let schema = config.file_schema();
    let mut files = config.file_groups.iter().flat_map(|group| group.files());
    if !schema.fields().iter().any(|f| is_float(f.data_type())) || files.all(|f| f.statistics.is_none()) {
        return plan;
    }
    let groups = config.file_groups.iter().map(|group| {
        let files = group.files().iter().map(|file| without_bounds(file, schema));
        files.collect::<Vec<_>>().into()
    });
    let groups = groups.collect();
    DataSourceExec::from_data_source(
        FileScanConfigBuilder::from(config.clone())
            .with_file_groups(groups)
            .build(),
    )
}

fn without_bounds(file: &PartitionedFile, schema: &Schema) -> PartitionedFile {
    let mut file = file.clone();
    file.statistics = file.statistics.map(|statistics| {
        let mut statistics: Statistics = statistics.as_ref().clone();
        let columns = statistics.column_statistics.iter_mut().zip(schema.fields());
        for (column, _) in columns.filter(|(_, field)| is_float(field.data_type())) {
            (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
        }
        Arc::new(statistics)
    });
    file
}

fn is_float(data_type: &DataType) -> bool {
    plain_type(data_type).is_floating()
}
