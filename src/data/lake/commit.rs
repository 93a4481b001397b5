//! The commit of a run: one conditional put, or one entry in the log of a table.

use super::lease::is_condition;
use super::names::{Layout, SUCCESS};
use super::prefix::{Standing, Version};
use super::run::PrefixRun;
use super::shared::RunOutcome;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::base::store::read_small;
use crate::data::folder::MANIFEST;
use crate::data::formats::{Change, CommitOutcome, Entry};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStoreExt, PutMode, PutOptions};
use std::sync::Arc;

impl PrefixRun {
    /// Commits the files of the run as the release of the prefix. `manifest` is the text of the new
    /// release's manifest, and `standing` is the existing release that the new release replaces.
    /// Fails with `late` if another run committed first.
    pub(crate) async fn commit(self, manifest: &str, standing: Option<&Standing>, late: Error) -> Result<()> {
        self.put_manifests(manifest, standing, late).await
    }

    /// Commits the files of the run to the table at the prefix: as the version after `standing`, or
    /// as the first version of a new table if `standing` is not in a table. Fails with `late` if
    /// another commit came first.
    pub(crate) async fn commit_to_log(
        self,
        manifest: &str,
        standing: Option<&Standing>,
        format: &Entry,
        (change, late): (Change, Error),
    ) -> Result<()> {
        self.put_change(manifest, standing, format, (change, late)).await
    }

    async fn put_change(
        &self,
        manifest: &str,
        standing: Option<&Standing>,
        format: &Entry,
        (change, late): (Change, Error),
    ) -> Result<()> {
        self.show().await?;
        self.put_own(manifest).await?;
        self.seal().await?;
        let outcome = &self.shared.outcome;
        // If the caller drops this future, the outcome remains unknown.
        *outcome.lock() = RunOutcome::Unknown;
        let ended = match (standing.and_then(Standing::table), format.committing("a commit")) {
            (Some(table), _) => table.commit(change).await,
            (None, Ok(format)) => format.create(self.shared.prefix.place(), change).await,
            (None, Err(e)) => CommitOutcome::Failed(e),
        };
        let (known, result) = match ended {
            CommitOutcome::Committed => (RunOutcome::Committed, Ok(())),
            CommitOutcome::Late => (RunOutcome::Open, Err(late)),
            CommitOutcome::Failed(e) => (RunOutcome::Open, Err(e)),
            CommitOutcome::Unknown(e) => {
                let said = "it is not known whether the release was published; check the target, and run the \
                            statement again if it was not";
                (RunOutcome::Unknown, Err(e.context(said)))
            }
        };
        *outcome.lock() = known;
        result
    }

    /// For a table in a local folder, moves the files of the run to the paths that the log entry
    /// will contain. Does nothing for any other run.
    async fn show(&self) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let show = move || match &shared.record {
            Some(record) => {
                let mut written = shared.written.lock();
                *written = record.show(&shared.prefix, &written)?;
                Ok(())
            }
            None => Ok(()),
        };
        blocking("putting the release in its place", show).await
    }

    /// Writes the run's own copy of the manifest. This write does not commit the release.
    async fn put_own(&self, manifest: &str) -> Result<()> {
        let (shared, prefix) = (&self.shared, &self.shared.prefix);
        let own = prefix.inside(&shared.layout.manifest(&shared.run));
        shared.written.lock().insert(own.clone());
        let put = prefix.store().put(&own, manifest.to_string().into()).await;
        put.map(|_| ()).map_err(|e| prefix.failed("cannot write to", &e))
    }

    async fn seal(&self) -> Result<()> {
        match &self.lease {
            Some(lease) => lease.lock().await.seal().await,
            None => Ok(()),
        }
    }

    async fn put_manifests(&self, manifest: &str, standing: Option<&Standing>, late: Error) -> Result<()> {
        let (shared, prefix) = (&self.shared, &self.shared.prefix);
        let path = prefix.inside(MANIFEST);
        if shared.layout == Layout::Runs {
            self.put_own(manifest).await?;
        }
        self.seal().await?;
        let mode = match standing.map(|standing| &standing.version) {
            None => PutMode::Create,
            Some(Version::Object(version)) => PutMode::Update(version.clone()),
            Some(Version::Table(_)) => return Err(Error::internal("a Delta table is committed to by its log")),
        };
        // If the caller drops this future, the outcome remains unknown.
        *shared.outcome.lock() = RunOutcome::Unknown;
        let put = prefix
            .store()
            .put_opts(&path, manifest.to_string().into(), PutOptions::from(mode))
            .await;
        *shared.outcome.lock() = match &put {
            Ok(_) => RunOutcome::Committed,
            Err(e) => self.found_out(&path, manifest, e).await,
        };
        match (put, *shared.outcome.lock()) {
            (_, RunOutcome::Committed) => {}
            (Err(e), RunOutcome::Open) if is_condition(&e) => return Err(late),
            (Err(e), RunOutcome::Unknown) => {
                return Err(prefix.failed(
                    "it is not known whether the release was published; check the target, and run the statement again \
                     if it was not:",
                    &e,
                ));
            }
            (Err(e), RunOutcome::Open) => return Err(prefix.failed("cannot write to", &e)),
            (Ok(_), _) => return Err(Error::internal("a commit that succeeded is not committed")),
        }
        if shared.layout == Layout::Plain {
            let put = prefix.store().put(&prefix.inside(SUCCESS), Vec::new().into()).await;
            put.map_err(|e| prefix.failed("the release is in place, but without _SUCCESS:", &e))?;
        }
        Ok(())
    }

    /// Determines the outcome of a put that failed with `error`. The store may have executed the
    /// put: if the response to a request was lost, the client repeats the request, and the store
    /// then rejects it because the first attempt created or changed the object.
    async fn found_out(&self, path: &Path, manifest: &str, error: &object_store::Error) -> RunOutcome {
        let store = self.shared.prefix.store().as_ref();
        let found = read_small(store, path, manifest.len() as u64, "").await;
        match found {
            Ok(Some(found)) if found.bytes == manifest.as_bytes() => RunOutcome::Committed,
            _ if is_condition(error) => RunOutcome::Open,
            // Without a response, it is unknown whether the store will still execute the request.
            _ => RunOutcome::Unknown,
        }
    }
}
