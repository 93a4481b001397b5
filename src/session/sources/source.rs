//! Opens a source: a table of the session, a path or a query.

use super::read::read_path;
use crate::error::{Error, Result};
use crate::job::SourceTable;
use crate::location::expanded;
use crate::session::context::AnonContext;
use crate::source::{Pins, SOURCE, reading};
use crate::sql::clause::SourceClause;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use std::any::Any;
use std::path::PathBuf;

impl AnonContext {
    /// Opens the rows that a statement names.
    pub(in crate::session) async fn source(&self, source: &SourceClause) -> Result<SourceTable> {
        let what = match source {
            SourceClause::Path(named) => format!("{:?}", named.path),
            _ => SOURCE.to_string(),
        };
        reading(&what, self.open(source)).await
    }

    async fn open(&self, source: &SourceClause) -> Result<SourceTable> {
        let rows = match source {
            SourceClause::Table(name) => self.table(name).await?,
            SourceClause::Path(named) => read_path(&self.session, &named.path, &named.options).await?,
            SourceClause::Query(query) => {
                let frame = self.query(query).await?;
                match frame.logical_plan() {
                    LogicalPlan::Ddl(_) | LogicalPlan::Dml(_) | LogicalPlan::Copy(_) | LogicalPlan::Statement(_) => {
                        return Err(Error::usage("the statement in parentheses is not a query"));
                    }
                    _ => frame,
                }
            }
        };
        let pins = Pins::of(&self.session.state(), rows.logical_plan()).await?;
        Ok(SourceTable {
            name: self.hidden.in_statement(source.to_string()),
            rows,
            files: pins.local_files(),
            pins,
        })
    }
}

/// Returns the local folder that contains these rows and no others: the path itself, or the folder of a listing table.
pub(in crate::session) fn released_folder(named: &SourceClause, rows: &DataFrame) -> Option<PathBuf> {
    match (named, rows.logical_plan()) {
        (SourceClause::Path(named), _) => Some(PathBuf::from(expanded(&named.path).ok()?.as_ref())),
        (SourceClause::Table(_), LogicalPlan::TableScan(scan)) if scan.filters.is_empty() && scan.fetch.is_none() => {
            let provider = source_as_provider(&scan.source).ok()?;
            let listing = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>()?;
            match listing.table_paths().as_slice() {
                [url] if url.scheme() == "file" => url.get_url().to_file_path().ok(),
                _ => None,
            }
        }
        _ => None,
    }
}
