//! Opens a source: a table of the session, a path or a query.

use super::lakes::read_lake;
use super::read::read_path;
use crate::base::error::{Error, Result};
use crate::data::source::{Pins, SOURCE, claimless, reading};
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SourceClause;
use crate::method::canonical::spelled_once;
use crate::release::job::SourceTable;
use datafusion::logical_expr::LogicalPlan;

impl AnonContext {
    /// Opens the source that a statement names. The values of its rows are converted to their
    /// canonical form ([`crate::method::canonical`]).
    pub(in crate::language::session) async fn source(&self, source: &SourceClause) -> Result<SourceTable> {
        let what = match source {
            SourceClause::Path(named) => format!("{:?}", named.path),
            _ => SOURCE.to_string(),
        };
        reading(&what, self.open(source)).await
    }

    async fn open(&self, source: &SourceClause) -> Result<SourceTable> {
        let rows = match source {
            SourceClause::Table(name) => self.table(name).await?,
            SourceClause::Path(named) => match &named.lake {
                Some((lake, at)) => read_lake(&self.session, lake, &named.path, at).await?,
                None => read_path(&self.session, &named.path, &named.options).await?,
            },
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
        let rows = spelled_once(claimless(rows)?)?;
        // Reports contain this name, so data values in the options of a path are replaced by `?`.
        let named = match source {
            SourceClause::Path(_) => source.redacted().to_string(),
            SourceClause::Table(_) | SourceClause::Query(_) => source.to_string(),
        };
        Ok(SourceTable {
            name: self.hidden.in_statement(named),
            depends: self.made.depends(rows.logical_plan())?,
            rows,
            files: pins.local_files(),
            pins,
        })
    }
}
