//! Uploads a staged file: in one put if the file is small, and otherwise in parts. A store charges
//! for the parts of an incomplete upload indefinitely, so an upload that fails or is stopped
//! deletes its parts.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use bytes::Bytes;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, MultipartUpload, ObjectStore, ObjectStoreExt, PutResult};
use futures::TryStreamExt;
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use tokio::sync::watch;

/// The minimum size of a part in bytes, except for the last part. Also the maximum size of an
/// object that is put in one request.
const PART: u64 = 8 << 20;
/// The maximum number of parts of an object. Stores allow 10,000.
const PARTS: u64 = 9_000;
/// The number of parts that are uploaded at the same time.
const AT_ONCE: usize = 4;

/// A receiver whose sender is dropped when the result of an upload is no longer needed.
pub(super) type Stopped = watch::Receiver<()>;

/// Waits until the results of the run's uploads are no longer needed.
pub(super) async fn stopped(stop: &mut Stopped) {
    while stop.changed().await.is_ok() {}
}

/// A staged file, with its length in bytes.
pub(super) struct StagedFile {
    pub(super) file: File,
    pub(super) bytes: u64,
}

/// Puts the content of a file at `path`. Error messages begin with `what`.
pub(super) async fn upload(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    StagedFile { file, bytes }: StagedFile,
    stop: &mut Stopped,
    what: &str,
) -> Result<PutResult> {
    let failed = |e: object_store::Error| Error::of_store(what, &e);
    let file = Arc::new(Mutex::new(file));
    if bytes <= PART {
        let content = read(&file, 0, bytes).await?;
        return tokio::select! {
            put = store.put(path, content.into()) => put.map_err(failed),
            () = stopped(stop) => Err(interrupted()),
        };
    }
    let mut parts = store.put_multipart(path).await.map_err(failed)?;
    let sent = tokio::select! {
        sent = send(parts.as_mut(), &file, bytes, failed) => sent,
        () = stopped(stop) => Err(interrupted()),
    };
    if sent.is_err() {
        // If this fails, a life-cycle rule of the bucket can remove the remaining parts.
        let _ = parts.abort().await;
    }
    sent
}

async fn send(
    parts: &mut dyn MultipartUpload,
    file: &Arc<Mutex<File>>,
    bytes: u64,
    failed: impl Fn(object_store::Error) -> Error + Copy,
) -> Result<PutResult> {
    let part = PART.max(bytes.div_ceil(PARTS));
    let mut on_way = FuturesUnordered::new();
    let mut from = 0;
    while from < bytes {
        let content = read(file, from, part.min(bytes - from)).await?;
        from += content.len() as u64;
        on_way.push(parts.put_part(content.into()));
        while on_way.len() >= AT_ONCE {
            on_way.try_next().await.map_err(failed)?;
        }
    }
    while on_way.try_next().await.map_err(failed)?.is_some() {}
    parts.complete().await.map_err(failed)
}

async fn read(file: &Arc<Mutex<File>>, from: u64, bytes: u64) -> Result<Bytes> {
    let file = Arc::clone(file);
    let read = move || {
        let mut content = vec![];
        let mut file = file.lock();
        let failed = |e| Error::io("cannot read a staged file", e);
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        (&mut *file).take(bytes).read_to_end(&mut content).map_err(failed)?;
        match content.len() as u64 == bytes {
            true => Ok(Bytes::from(content)),
            false => Err(Error::internal("a staged file became shorter")),
        }
    };
    blocking("reading a staged file", read).await
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}
