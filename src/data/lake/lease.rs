//! The lease of a run: an object that a process can change only if it knows the object's latest
//! version.

use super::names::lease;
use super::prefix::Prefix;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::store::read_small;
use chrono::{DateTime, Utc};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStoreExt, PutMode, PutOptions, PutResult, UpdateVersion};
use serde::{Deserialize, Serialize};

/// The maximum number of bytes of a lease.
const LARGEST: u64 = 1 << 16;

/// The state of a run, as its lease records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LeaseState {
    /// The run is writing.
    Open,
    /// The run is committing.
    Sealed,
    /// The run was found dead, and its files are being deleted.
    Abandoned,
}

/// The content of a lease.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Text {
    run: String,
    state: LeaseState,
    by: String,
    since: DateTime<Utc>,
    renewed: DateTime<Utc>,
}

/// A lease, in the latest version that this process has seen.
#[derive(Debug)]
pub(super) struct Lease {
    prefix: Prefix,
    path: Path,
    version: UpdateVersion,
    text: Text,
    /// The time of the last change, by the clock of the store.
    changed: DateTime<Utc>,
}

impl Lease {
    /// Creates the lease of a new run. Fails with `ErrorKind::Usage` if the store ignores the
    /// conditions of a put.
    pub(super) async fn take(prefix: &Prefix, run: &str) -> Result<Self> {
        let now = Utc::now();
        let mut lease = Self {
            path: lease(prefix.path(), run),
            prefix: prefix.clone(),
            version: UpdateVersion {
                e_tag: None,
                version: None,
            },
            text: Text {
                run: run.into(),
                state: LeaseState::Open,
                by: format!("anonsql {}, process {}", env!("CARGO_PKG_VERSION"), std::process::id()),
                since: now,
                renewed: now,
            },
            changed: now,
        };
        lease.put(PutMode::Create).await.map_err(|e| lease.not_taken(&e))?;
        let heeds = lease.heeds_conditions().await;
        if !matches!(heeds, Ok(true)) {
            // A lease that cannot be deleted here is deleted later, like the lease of a killed run.
            let _ = prefix.store().delete(&lease.path).await;
        }
        match heeds {
            Ok(true) => Ok(lease),
            Ok(false) => Err(lease.refused()),
            Err(e) => Err(lease.not_taken(&e)),
        }
    }

    /// Returns true if the store refuses puts whose conditions do not hold, and accepts the others.
    async fn heeds_conditions(&mut self) -> object_store::Result<bool> {
        if !is_refused(self.send(PutMode::Create).await)? {
            return Ok(false);
        }
        let before = self.version.clone();
        // Some stores compute the e_tag from the content alone, so the second content must differ.
        self.text.renewed = Utc::now() + chrono::Duration::milliseconds(1);
        self.put(PutMode::Update(before.clone())).await?;
        self.text.renewed += chrono::Duration::milliseconds(1);
        is_refused(self.send(PutMode::Update(before)).await)
    }

    fn not_taken(&self, error: &object_store::Error) -> Error {
        match error {
            object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. } => self.refused(),
            other => self.prefix.failed("cannot write to", other),
        }
    }

    fn refused(&self) -> Error {
        Error::usage(format!(
            "the store of {} has no conditional puts (If-None-Match and If-Match), without which two runs could mix their \
             releases; use a store that has them (S3, GCS, Azure, MinIO of 2024 or later), or write to a local folder and \
             copy it",
            self.prefix.url()
        ))
    }

    /// Renews the lease, which shows that the run is alive. Fails if another process has taken over
    /// the lease.
    pub(super) async fn renew(&mut self) -> object_store::Result<()> {
        self.text.renewed = Utc::now();
        self.put(PutMode::Update(self.version.clone())).await
    }

    /// Records that the run is committing. From then on, no other process can take over the lease.
    /// Fails with `ErrorKind::Unavailable` if another process has already taken it over.
    pub(super) async fn seal(&mut self) -> Result<()> {
        self.text.state = LeaseState::Sealed;
        self.text.renewed = Utc::now();
        let sealed = self.put(PutMode::Update(self.version.clone())).await;
        sealed.map_err(|e| match is_condition(&e) {
            true => Error::new(
                ErrorKind::Unavailable,
                format!(
                    "another run or a VACUUM considered run {} under {} dead, because it did not renew its lease for a \
                    long time; nothing was published, run it again",
                    self.text.run,
                    self.prefix.url()
                ),
            ),
            false => self.prefix.failed("cannot write to", &e),
        })
    }

    /// Reads the lease of a run; `None` if the run has no lease.
    pub(super) async fn read(prefix: &Prefix, run: &str) -> Result<Option<Self>> {
        let path = lease(prefix.path(), run);
        let what = format!("cannot read the lease of run {run} under {}", prefix.url());
        let Some(found) = read_small(prefix.store().as_ref(), &path, LARGEST, &what).await? else {
            return Ok(None);
        };
        let damaged = |_| Error::data(format!("{what}: it is not a lease; delete {path}"));
        Ok(Some(Self {
            prefix: prefix.clone(),
            text: serde_json::from_slice(&found.bytes).map_err(damaged)?,
            version: UpdateVersion {
                e_tag: found.meta.e_tag,
                version: found.meta.version,
            },
            changed: found.meta.last_modified,
            path,
        }))
    }

    /// Returns the state of the run.
    pub(super) fn state(&self) -> LeaseState {
        self.text.state
    }

    /// Returns the time of the last change, by the clock of the store.
    pub(super) fn changed(&self) -> DateTime<Utc> {
        self.changed
    }

    /// Takes over the lease from its run. Returns false if the run changed the lease in the
    /// meantime.
    pub(super) async fn abandon(&mut self) -> Result<bool> {
        self.text.state = LeaseState::Abandoned;
        match self.put(PutMode::Update(self.version.clone())).await {
            Err(e) if is_condition(&e) => Ok(false),
            taken => taken
                .map(|()| true)
                .map_err(|e| self.prefix.failed("cannot write to", &e)),
        }
    }

    /// Returns the path of the lease.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    async fn put(&mut self, mode: PutMode) -> object_store::Result<()> {
        self.version = match self.send(mode).await {
            // If the response to a request was lost, the client repeats the request. The repeated
            // request then fails because the first attempt has already changed the lease.
            Err(e) if is_condition(&e) => self.own().await.ok_or(e)?,
            sent => sent?.into(),
        };
        Ok(())
    }

    /// Returns the version of the lease in the store, if its content equals the content of this
    /// lease.
    async fn own(&self) -> Option<UpdateVersion> {
        let found = read_small(self.prefix.store().as_ref(), &self.path, LARGEST, "lease").await;
        let found = found.ok().flatten()?;
        let is_own = serde_json::to_vec(&self.text).is_ok_and(|own| own == found.bytes);
        is_own.then_some(UpdateVersion {
            e_tag: found.meta.e_tag,
            version: found.meta.version,
        })
    }

    async fn send(&self, mode: PutMode) -> object_store::Result<PutResult> {
        let text = serde_json::to_vec(&self.text).map_err(|e| object_store::Error::Generic {
            store: "lease",
            source: Box::new(e),
        })?;
        let options = PutOptions::from(mode);
        self.prefix.store().put_opts(&self.path, text.into(), options).await
    }
}

/// Returns true if a put failed because its condition did not hold.
pub(super) fn is_condition(error: &object_store::Error) -> bool {
    matches!(
        error,
        object_store::Error::AlreadyExists { .. }
            | object_store::Error::Precondition { .. }
            | object_store::Error::NotFound { .. }
    )
}

/// Returns true if a put was refused because its condition did not hold, and false if it succeeded.
/// Fails if the put failed for another reason.
fn is_refused(put: object_store::Result<PutResult>) -> object_store::Result<bool> {
    match put {
        Ok(_) => Ok(false),
        Err(e) if is_condition(&e) => Ok(true),
        Err(e) => Err(e),
    }
}
