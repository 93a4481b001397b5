//! Binds the rows that wait: they are rows of the next batch.

use crate::error::{Error, Result};
use crate::job::{SourceTable, Target};
use crate::session::context::AnonContext;
use datafusion::logical_expr::cast;
use datafusion::prelude::{Expr, ident};

impl AnonContext {
    /// Returns a source with the rows that wait for the release of the target. Fails with
    /// `ErrorKind::Data` if they have other columns, and with `ErrorKind::Usage` if the source
    /// reads them, too.
    pub(super) fn with_waiting(&self, source: SourceTable, target: Option<&Target>) -> Result<SourceTable> {
        let Some((target, waiting)) = target.and_then(|target| Some((target, target.waiting.as_ref()?))) else {
            return Ok(source);
        };
        let is_in = |name: &str| name.starts_with(waiting.url());
        let folder = waiting.folder();
        let is_read = source.pins.objects().any(|(name, _)| is_in(name))
            || source
                .files
                .iter()
                .any(|file| folder.as_ref().is_some_and(|folder| file.starts_with(folder)));
        if is_read {
            return Err(Error::usage(format!(
                "option waiting: the source reads the files in {}, whose rows are added to it anyway; keep them in a folder that the \
                 source does not read",
                waiting.url()
            )));
        }
        let Some(rows) = &waiting.rows else {
            let last = target.grows.as_ref().and_then(|standing| standing.all_batches().pop());
            if let Some(batch) = last.filter(|batch| batch.rows_waiting > 0) {
                self.observer.advised(&format!(
                    "{} rows wait since the last batch, and are not in {}: this batch is without them",
                    batch.rows_waiting,
                    waiting.url()
                ));
            }
            return Ok(source);
        };
        if rows.batches.is_empty() {
            return Ok(source);
        }
        let waited = SourceTable {
            rows: self.session.read_batches(rows.batches.clone())?,
            ..source.clone()
        };
        if waited.typed_columns() != source.typed_columns() {
            return Err(Error::data(format!(
                "option waiting: the rows in {} have other columns, or other types, than the source; SELECT and CAST those of the \
                 batch that they are of",
                waiting.url()
            )));
        }
        let fields = source.rows.schema().fields();
        let as_read: Vec<Expr> = fields
            .iter()
            .map(|field| cast(ident(field.name()), field.data_type().clone()).alias(field.name()))
            .collect();
        Ok(SourceTable {
            rows: source.rows.clone().union(waited.rows.select(as_read)?)?,
            ..source
        })
    }
}
