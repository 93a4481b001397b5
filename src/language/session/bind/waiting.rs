//! Adds held-back rows to a batch (option `waiting`): rows of earlier batches that could not be
//! released at that time.

use crate::base::error::{Error, Result};
use crate::base::location::encoded;
use crate::language::session::context::AnonContext;
use crate::release::job::{SourceTable, Target, Waiting};
use datafusion::logical_expr::cast;
use datafusion::prelude::{Expr, ident};

impl AnonContext {
    /// Returns the source with the held-back rows of the target's release added. Fails with
    /// `ErrorKind::Data` if the columns or types of these rows differ from those of the source.
    /// Fails with `ErrorKind::Usage` if the source itself reads their folder, or would read it
    /// after this run.
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
                "option waiting: the source reads the files in {}, and their rows are added to it anyway; keep the \
                 waiting rows in a folder that the source does not read",
                waiting.url()
            )));
        }
        check_is_not_read(&source, waiting)?;
        let Some(rows) = &waiting.rows else {
            let last = target.grows.as_ref().and_then(|standing| standing.all_batches().pop());
            if let Some(batch) = last.filter(|batch| batch.rows_waiting > 0) {
                self.observer.advised(&format!(
                    "{} rows wait since the last batch, and are not in {}: this batch does not contain them",
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
                "option waiting: the rows in {} have other columns or types than the source; SELECT and CAST the \
                 columns of their batch",
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

/// Fails with `ErrorKind::Usage` if the folder of the held-back rows lies in a folder that the
/// source reads. Otherwise, the source would change during the run, and the next batch would
/// contain the held-back rows twice.
fn check_is_not_read(source: &SourceTable, waiting: &Waiting) -> Result<()> {
    let local = source.files.iter().filter_map(|file| file.file_name()?.to_str());
    let objects = source.pins.objects().filter_map(|(name, _)| name.rsplit('/').next());
    // A source in another format must not find a Parquet file in its folder either. Therefore, the
    // names of the source's own files are tested as well.
    let mut names = local.chain(objects).chain(["waiting.parquet"]);
    let is_read = names.any(|name| {
        let file = format!("{}{}", waiting.url(), encoded(name.as_bytes()));
        source.pins.would_read(&file)
    });
    match is_read {
        true => Err(Error::usage(format!(
            "option waiting: {} is in a folder that the source reads, so the source would change with each run; keep \
             the waiting rows in a folder beside it",
            waiting.url()
        ))),
        false => Ok(()),
    }
}
