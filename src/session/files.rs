//! The files that a statement of DataFusion writes.

use crate::engine::Alike;
use crate::error::Result;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use std::any::Any;

/// What files of a statement cannot tell apart, and the columns that are the names of their folders.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) alike: Option<Alike>,
    pub(super) folders: Vec<String>,
}

impl Written {
    /// What COPY or INSERT writes; nothing where a statement writes no files.
    pub(super) fn of(plan: &LogicalPlan) -> Result<Self> {
        match plan {
            LogicalPlan::Copy(copy) => {
                let is_null = |key: &str| key.to_ascii_lowercase().ends_with("null_value");
                let null = copy.options.iter().find(|(key, _)| is_null(key));
                Ok(Self {
                    alike: alike(&copy.file_type.get_ext(), null.map(|(_, text)| text.clone())),
                    folders: copy.partition_by.clone(),
                })
            }
            LogicalPlan::Dml(insert) => {
                let provider = source_as_provider(&insert.target)?;
                let Some(listing) = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>() else {
                    return Ok(Self::default());
                };
                let format = listing.options().format.as_ref();
                let csv = (format as &dyn Any).downcast_ref::<CsvFormat>();
                let null = csv.and_then(|csv| csv.options().null_value.clone());
                let folders = listing.options().table_partition_cols.iter();
                Ok(Self {
                    alike: alike(&format.get_ext(), null),
                    folders: folders.map(|(name, _)| name.clone()).collect(),
                })
            }
            _ => Ok(Self::default()),
        }
    }
}

fn alike(extension: &str, null: Option<String>) -> Option<Alike> {
    match extension.trim_start_matches('.') {
        "csv" => Some(Alike::Csv(null.unwrap_or_default())),
        "json" | "ndjson" => Some(Alike::Json),
        _ => None,
    }
}
