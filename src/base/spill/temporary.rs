//! Temporary files of queries. The files have no names in the file system.
//!
//! DataFusion's operators spill rows unchanged, including original values, to files that remain if
//! the process is killed. Files without a name are removed when the process exits, even if it is
//! killed.

use super::space::{Overflow, TemporaryFolder};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use bytes::Bytes;
use datafusion::error::Result as DfResult;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SessionStateBuilder, SpillFile, SpillWriter, TempFileFactory};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes per read of a temporary file.
const CHUNK: usize = 1 << 17;

/// Returns a copy of `environment` whose temporary files have no name. The files are created in the
/// first temporary folder of `environment`. `config` stores this folder. Returns `None` if the
/// files already have no name, or if temporary files are disabled. Use the returned environment and
/// `config` together, in [`SessionContext::new_with_config_rt`].
///
/// The size limit for temporary files is the limit of `environment`; a query fails if it exceeds
/// the limit. A custom backend for temporary files ([`TempFileFactory`]) is replaced too.
///
/// ```
/// use anonsql::{AnonContext, with_unnamed_files};
/// use datafusion::execution::runtime_env::RuntimeEnv;
/// use datafusion::prelude::{SessionConfig, SessionContext};
/// use std::sync::Arc;
///
/// let (named, mut config) = (RuntimeEnv::default(), SessionConfig::new());
/// let environment = with_unnamed_files(&named, &mut config)?.unwrap_or(named);
/// let anon = AnonContext::new(SessionContext::new_with_config_rt(config, Arc::new(environment)));
/// # Ok::<(), anonsql::error::Error>(())
/// ```
pub fn with_unnamed_files(environment: &RuntimeEnv, config: &mut SessionConfig) -> Result<Option<RuntimeEnv>> {
    let disk = &environment.disk_manager;
    let before = config.get_extension::<TemporaryFolder>();
    if !disk.tmp_files_enabled() || before.as_ref().is_some_and(|b| Arc::ptr_eq(&b.disk, disk)) {
        return Ok(None);
    }
    let given = disk.temp_dir_paths();
    let given = given.first().and_then(|made| made.parent()).map(Path::to_path_buf);
    let folder = given
        .or_else(|| before.map(|b| b.path.clone()))
        .unwrap_or_else(std::env::temp_dir);
    let space = Space {
        used: AtomicU64::new(0),
        limit: disk.max_temp_directory_size(),
    };
    let files = UnnamedFiles {
        folder: folder.clone(),
        space: Arc::new(space),
    };
    let builder = DiskManagerBuilder::default()
        .with_temp_file_factory(Arc::new(files))
        .with_max_temp_directory_size(disk.max_temp_directory_size())
        .with_max_spill_merge_fan_in(disk.max_spill_merge_fan_in());
    let environment = RuntimeEnvBuilder::from_runtime_env(environment)
        .with_disk_manager_builder(builder)
        .build()?;
    config.set_extension(Arc::new(TemporaryFolder {
        path: folder,
        disk: Arc::clone(&environment.disk_manager),
    }));
    Ok(Some(environment))
}

/// Makes the temporary files of a session unnamed again, after a SET of their limit or folder has
/// replaced them with DataFusion's named files. Does nothing if the session had no unnamed files
/// before.
pub fn keep_files_unnamed(session: &SessionContext) -> Result<()> {
    let state = session.state_ref();
    let mut state = state.write();
    let mut config = state.config().clone();
    if config.get_extension::<TemporaryFolder>().is_none() {
        return Ok(());
    }
    if let Some(environment) = with_unnamed_files(state.runtime_env(), &mut config)? {
        *state = SessionStateBuilder::from(state.clone())
            .with_config(config)
            .with_runtime_env(Arc::new(environment))
            .build();
    }
    Ok(())
}

/// Creates the unnamed temporary files of a session.
struct UnnamedFiles {
    folder: PathBuf,
    space: Arc<Space>,
}

/// The number of bytes used by all temporary files of a session, and its limit.
struct Space {
    used: AtomicU64,
    limit: u64,
}

impl TempFileFactory for UnnamedFiles {
    fn create_temp_file(&self, _: &str) -> DfResult<Arc<dyn SpillFile>> {
        Ok(Arc::new(UnnamedFile(Arc::new(Contents {
            overflow: Overflow::create(&self.folder)?,
            bytes: AtomicU64::new(0),
            space: Arc::clone(&self.space),
        }))))
    }
}

struct UnnamedFile(Arc<Contents>);

/// The content of one file. Dropping this value releases its space.
struct Contents {
    overflow: Overflow,
    bytes: AtomicU64,
    space: Arc<Space>,
}

impl Drop for Contents {
    fn drop(&mut self) {
        self.space
            .used
            .fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl SpillFile for UnnamedFile {
    fn size(&self) -> Option<u64> {
        Some(self.0.bytes.load(Ordering::Relaxed))
    }

    fn read_stream(&self) -> DfResult<BoxStream<'static, DfResult<Bytes>>> {
        let chunks = stream::try_unfold((Arc::clone(&self.0), 0), |(contents, offset)| async move {
            let read = move || {
                let chunk = contents.overflow.read_some(offset, CHUNK)?;
                Ok::<_, Error>((chunk, contents))
            };
            let (chunk, contents) = blocking("reading a temporary file", read).await?;
            let next = offset + chunk.len() as u64;
            Ok((!chunk.is_empty()).then(|| (Bytes::from(chunk), (contents, next))))
        });
        Ok(chunks.boxed())
    }

    fn open_writer(&self) -> DfResult<Box<dyn SpillWriter>> {
        Ok(Box::new(Writer(Arc::clone(&self.0))))
    }
}

/// Appends to a temporary file. Fails if the files of the session would exceed their size limit.
struct Writer(Arc<Contents>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Contents {
            overflow,
            bytes: own,
            space,
        } = self.0.as_ref();
        let added = bytes.len() as u64;
        if space.used.fetch_add(added, Ordering::Relaxed) + added > space.limit {
            space.used.fetch_sub(added, Ordering::Relaxed);
            return Err(io::Error::other(Error::new(
                ErrorKind::Resources,
                format!(
                    "temporary files would take more than {} bytes; SET datafusion.runtime.max_temp_directory_size to \
                     a larger value",
                    space.limit
                ),
            )));
        }
        own.fetch_add(added, Ordering::Relaxed);
        overflow.append(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SpillWriter for Writer {
    fn finish(&mut self) -> DfResult<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::execution::disk_manager::DiskManagerMode;
    use datafusion::execution::memory_pool::FairSpillPool;
    use futures::TryStreamExt;

    /// Returns a session whose sorts spill, with its temporary files in `folder`.
    fn session(folder: &Path) -> SessionContext {
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.to_path_buf()]));
        let named = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(FairSpillPool::new(8 << 20)))
            .with_disk_manager_builder(disk)
            .build()
            .unwrap();
        let mut config = SessionConfig::new().with_target_partitions(1);
        config.options_mut().execution.sort_spill_reservation_bytes = 1 << 18;
        let unnamed = with_unnamed_files(&named, &mut config).unwrap().unwrap();
        assert!(with_unnamed_files(&unnamed, &mut config).unwrap().is_none());
        SessionContext::new_with_config_rt(config, Arc::new(unnamed))
    }

    const SORT: &str =
        "SELECT v, v || 'secret' AS text FROM (SELECT value * 7919 % 500009 AS v FROM range(0, 500000)) ORDER BY v";

    #[tokio::test]
    async fn what_is_sorted_beyond_memory_has_no_name_and_is_read_again() {
        let scratch = tempfile::tempdir().unwrap();
        let session = session(scratch.path());
        for limit in [
            None,
            Some("max_temp_directory_size = '1G'"),
            Some("max_spill_merge_fan_in = '3'"),
        ] {
            if let Some(limit) = limit {
                session.sql(&format!("SET datafusion.runtime.{limit}")).await.unwrap();
                keep_files_unnamed(&session).unwrap();
            }
            let plan = session.sql(SORT).await.unwrap().create_physical_plan().await.unwrap();
            let mut rows = datafusion::physical_plan::execute_stream(Arc::clone(&plan), session.task_ctx()).unwrap();
            let (mut before, mut count) = (-1, 0);
            while let Some(batch) = rows.try_next().await.unwrap() {
                assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
                let values = batch
                    .column(0)
                    .as_any()
                    .downcast_ref::<arrow::array::Int64Array>()
                    .unwrap();
                for v in values.values() {
                    assert!(before <= *v);
                    before = *v;
                }
                count += batch.num_rows();
            }
            assert_eq!(count, 500_000);
            let spilled = |p: &Arc<dyn datafusion::physical_plan::ExecutionPlan>| {
                p.metrics().and_then(|m| m.spill_count()).unwrap_or(0)
            };
            let mut nodes = vec![plan];
            let mut files = 0;
            while let Some(node) = nodes.pop() {
                files += spilled(&node);
                nodes.extend(node.children().into_iter().cloned());
            }
            assert!(files > 1, "{files} files");
        }
    }

    #[tokio::test]
    async fn files_take_no_more_than_they_may() {
        let scratch = tempfile::tempdir().unwrap();
        let session = session(scratch.path());
        session
            .sql("SET datafusion.runtime.max_temp_directory_size = '1M'")
            .await
            .unwrap();
        keep_files_unnamed(&session).unwrap();
        let refused = session
            .sql(SORT)
            .await
            .unwrap()
            .collect()
            .await
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("temporary files would take more than 1048576 bytes"),
            "{refused}"
        );
        let used = session
            .sql("SELECT count(*) FROM range(0, 1000)")
            .await
            .unwrap()
            .collect()
            .await;
        assert!(used.is_ok());
    }

    #[tokio::test]
    async fn a_session_without_files_stays_so_and_a_folder_that_is_set_counts() {
        let none = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
        let none = RuntimeEnvBuilder::new()
            .with_disk_manager_builder(none)
            .build()
            .unwrap();
        assert!(with_unnamed_files(&none, &mut SessionConfig::new()).unwrap().is_none());

        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let session = session(first.path());
        let folder = || {
            session
                .copied_config()
                .get_extension::<TemporaryFolder>()
                .unwrap()
                .path
                .clone()
        };
        assert_eq!(folder(), first.path());
        let set = format!("SET datafusion.runtime.temp_directory = '{}'", second.path().display());
        session.sql(&set).await.unwrap();
        keep_files_unnamed(&session).unwrap();
        assert_eq!(folder(), second.path());
        assert_eq!(std::fs::read_dir(second.path()).unwrap().count(), 0);
    }
}
