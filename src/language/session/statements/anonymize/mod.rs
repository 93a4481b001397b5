//! `ANONYMIZE`: releases a table such that the release satisfies its privacy models with minimum
//! loss.

mod released;
pub(in crate::language::session) mod spec;
pub(super) mod summary;

pub use released::Anonymized;

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::data::source::Noted;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::list as clause;
use crate::release::engine::{self, Placed, ReleasedRows};
use crate::release::job::Purpose;
use futures::future::BoxFuture;
use spec::AnonymizeSpec;
use std::path::Path;
use std::sync::Arc;
use summary::{DRY_RUN, KEPT, RELEASED};

pub(in crate::language::session) const ENTRY: Entry = Entry {
    name: "ANONYMIZE",
    starts: &["ANONYMIZE"],
    summary: "releases a table so that the privacy models hold, with the least loss",
    syntax: "ANONYMIZE { table | 'path, glob or url' [OPTIONS (key value, ...)] | ( query )
    | <tables> [VERSION AS OF n | TIMESTAMP AS OF 'time'] }
  [TO 'target' [STORED AS PARQUET | CSV | <formats>] [PARTITIONED BY (c, ...)] [OVERWRITE | APPEND | IF NOT EXISTS] [OPTIONS (...)]]
  [IDENTIFIERS (c [mask], ...)]
  QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w]
    [LABELS TEXT | BOUNDS | MIDPOINT | MEAN | MEDIAN | MODE], ...)
  [SENSITIVE (c [USING hierarchy] [RANDOMIZED | mask], ...)] [CLASS (c)] [KEEP (c [mask], ...)] [ENTITY (c)] [POPULATION table]
  SATISFYING model [ON column | ON (c, ...) | ON ANY m] [AND ...]
  [FOLLOWING standard, ...] [SUPPRESSING AT MOST 1 PERCENT | n ROWS] [SUPPRESSED ROWS DROPPED | STARRED]
  [MINIMIZING metric] [RECODING GLOBAL | LOCAL]
  [SEARCH USING algorithm [(option => value, ...)] | AT NODE (c level, ...) | USING MANIFEST 'path' [ON DRIFT ERROR | WARN | SEARCH]]
  [WITH (option = value, ...)] [ACCEPTING WARNINGS ON (c, ...)] [REPORT TO 'report.html' [OVERWRITE]]
<masks>",
    example: "ANONYMIZE people TO 'released' QUASI IDENTIFIERS (age USING age, zip) SATISFYING k_anonymity(5)",
    answers: false,
    read: |c, _| {
        let (anonymize, clauses) = spec::read(c, "ANONYMIZE", &[clause::TO, clause::REPORT], true)?;
        spec::single(c, &clauses)?;
        Ok(Statement::new(anonymize))
    },
};

impl Run for AnonymizeSpec {
    fn kind(&self) -> &'static str {
        "anonymize"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            match self.release(context).await? {
                Anonymized::Rows { rows, .. } => Ok(rows),
                Anonymized::Files { folder, release, .. } => {
                    summary::summary(Some(&shown(&folder)), RELEASED, Some(&release))
                }
                Anonymized::DryRun { folder, release } => {
                    summary::summary(folder.as_deref().map(shown).as_deref(), DRY_RUN, Some(&release))
                }
                Anonymized::Kept { folder } => summary::summary(Some(&shown(&folder)), KEPT, None),
                Anonymized::Waiting { folder, rows } => summary::waiting(&shown(&folder), rows),
            }
        })
    }
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}

impl AnonymizeSpec {
    /// Runs the request, and returns the figures of the release with its manifest or its rows.
    pub(in crate::language::session) async fn release(&self, context: &AnonContext) -> Result<Anonymized> {
        let released = self.released(context).await;
        // The notes about the source are dropped, because the release has warnings of its own,
        // which are based on all rows.
        Noted::take(&context.session.copied_config());
        released
    }

    async fn released(&self, context: &AnonContext) -> Result<Anonymized> {
        let job = Arc::new(context.bind(self, Purpose::Release).await?);
        if context.settings().dry_run {
            let folder = job.output.target.as_ref().map(|t| t.path.clone());
            return Ok(match (engine::foresee(&job, &context.observer).await?, folder) {
                (Some(release), folder) => Anonymized::DryRun { folder, release },
                (None, folder) => Anonymized::Kept {
                    folder: folder.unwrap_or_default(),
                },
            });
        }
        let Some(target) = &job.output.target else {
            let ReleasedRows { release, table, report } = engine::release_rows(&job, &context.observer).await?;
            let rows = Answer::query(context.session.read_table(Arc::new(table))?).await?;
            if let Some(report) = report {
                blocking("publishing the report", move || report.publish()).await?;
            }
            context.observer.released(&release, None);
            return Ok(Anonymized::Rows { release, rows });
        };
        let folder = target.path.clone();
        Ok(match engine::release_to(&job, &context.observer).await? {
            Placed::Published(published) => Anonymized::Files {
                folder,
                release: published.release,
                manifest: Box::new(published.manifest),
            },
            Placed::Kept => Anonymized::Kept { folder },
            Placed::Waiting(rows) => Anonymized::Waiting { folder, rows },
        })
    }
}
