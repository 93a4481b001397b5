//! The commit: one conditional put.

use super::keeper::cleaned_up;
use super::lease::is_condition;
use super::names::{Layout, RUN, SUCCESS};
use super::prefix::Standing;
use super::run::Run;
use super::shared::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::MANIFEST;
use crate::store::read_small;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStoreExt, PutMode, PutOptions};
use std::time::Duration;

/// How long a committed run waits until its lease is deleted.
const PATIENCE: Duration = Duration::from_secs(30);

impl Run {
    /// Makes the files of the run the release of the prefix: `manifest` is its text, and `standing` the release that it
    /// replaces. Fails with `ErrorKind::TargetExists` if another run was faster.
    pub(crate) async fn commit(self, manifest: &str, standing: Option<&Standing>) -> Result<()> {
        let committed = self.put_manifests(manifest, standing).await;
        drop(self);
        cleaned_up(PATIENCE).await;
        committed
    }

    async fn put_manifests(&self, manifest: &str, standing: Option<&Standing>) -> Result<()> {
        let (shared, prefix) = (&self.shared, &self.shared.prefix);
        let path = prefix.inside(MANIFEST);
        if shared.layout == Layout::Runs {
            let own = prefix.inside(&format!("{RUN}{}/{MANIFEST}", shared.run));
            shared.written.lock().insert(own.clone());
            let put = prefix.store().put(&own, manifest.to_string().into()).await;
            put.map_err(|e| prefix.failed("cannot write to", &e))?;
        }
        self.lease.lock().await.seal().await?;
        let mode = match standing {
            None => PutMode::Create,
            Some(standing) => PutMode::Update(standing.version.clone()),
        };
        // Whoever gives up waiting does not know either.
        *shared.outcome.lock() = Outcome::Unknown;
        let put = prefix
            .store()
            .put_opts(&path, manifest.to_string().into(), PutOptions::from(mode))
            .await;
        *shared.outcome.lock() = match &put {
            Ok(_) => Outcome::Committed,
            Err(e) => self.found_out(&path, manifest, e).await,
        };
        match (put, *shared.outcome.lock()) {
            (_, Outcome::Committed) => {}
            (Err(e), Outcome::Open) if is_condition(&e) => return Err(self.too_late()),
            (Err(e), Outcome::Unknown) => {
                return Err(prefix.failed(
                    "whether the release is in place is not known; look, and run it again if not:",
                    &e,
                ));
            }
            (Err(e), Outcome::Open) => return Err(prefix.failed("cannot write to", &e)),
            (Ok(_), _) => return Err(Error::internal("a commit that succeeded is not committed")),
        }
        if shared.layout == Layout::Plain {
            let put = prefix.store().put(&prefix.inside(SUCCESS), Vec::new().into()).await;
            put.map_err(|e| prefix.failed("the release is in place, but without _SUCCESS:", &e))?;
        }
        Ok(())
    }

    /// Finds out what became of a put that failed. A request whose answer was lost is sent again, and then finds what it did
    /// itself.
    async fn found_out(&self, path: &Path, manifest: &str, error: &object_store::Error) -> Outcome {
        let store = self.shared.prefix.store().as_ref();
        let found = read_small(store, path, manifest.len() as u64, "").await;
        match found {
            Ok(Some(found)) if found.bytes == manifest.as_bytes() => Outcome::Committed,
            _ if is_condition(error) => Outcome::Open,
            // A put may still arrive whose answer did not.
            _ => Outcome::Unknown,
        }
    }

    fn too_late(&self) -> Error {
        Error::new(
            ErrorKind::TargetExists,
            format!(
                "another run released to {} in the meantime; its release stands, and nothing of this run was published. Run \
                 it again: with APPEND it is added to that release, and with OVERWRITE it replaces it",
                self.shared.prefix.url()
            ),
        )
    }
}
