//! Runs the scheduler and the executors, which use the services of Ballista.

use super::codec::BallistaCodec;
use super::unopened::Unopened;
use super::work::Work;
use crate::base::error::{Error, Result};
use crate::base::pool::{SessionPool, blocking};
use crate::base::settings::{Settings, listening};
use crate::base::spill::TemporaryFolder;
use crate::release::cluster::codec::Codec;
use crate::release::cluster::stores::Environments;
use ballista_core::ConfigProducer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::ExecutorHealth;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The maximum size of a message in bytes. The limit is large because plans contain the keys of all
/// equivalence classes.
const MESSAGE: u32 = i32::MAX as u32;
/// The time in seconds after which the scheduler considers a silent executor lost: one day, so that
/// this does not happen in practice. The scheduler would otherwise execute whole stages again, and
/// count the rows of some of their tasks twice.
const LOST: u64 = 24 * 3600;
/// The delay in seconds after which the files of a finished job are removed once more, in case the
/// driver exited early or some tasks continued.
const LEFT: u64 = 120;
/// The age in seconds at which an executor removes the remaining files of a job.
const OLD: u64 = 3600;
/// The interval in seconds between two checks for such files.
const SWEEP: u64 = 60;
/// The interval at which an executor checks whether the scheduler responds.
const BEAT: Duration = Duration::from_secs(5);
/// The time without a response from the scheduler after which an executor removes the files of all
/// jobs.
const ALONE: Duration = Duration::from_secs(60);
/// The maximum number of seconds for which a new executor waits for its scheduler.
const WAIT: u16 = 30;

/// Runs the scheduler, which distributes jobs to executors, until the process exits. Calls `ready`
/// with the address of the scheduler.
pub(crate) async fn schedule(address: &str, ready: impl FnOnce(SocketAddr)) -> Result<()> {
    let address = free(listening(address, false)?)?;
    let host = address.ip().to_string();
    let environment = Arc::new(RuntimeEnv {
        object_store_registry: Arc::new(Unopened::default()),
        ..RuntimeEnv::default()
    });
    let config = SchedulerConfig {
        bind_host: host.clone(),
        external_host: host,
        bind_port: address.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        // Only the driver retries, never the scheduler.
        task_max_failures: 1,
        stage_max_failures: 1,
        executor_timeout_seconds: LOST,
        no_executors_grace_period_seconds: LOST,
        finished_job_data_clean_up_interval_seconds: LEFT,
        finished_job_state_clean_up_interval_seconds: LEFT,
        grpc_server_max_decoding_message_size: MESSAGE,
        grpc_server_max_encoding_message_size: MESSAGE,
        grpc_client_max_message_size: MESSAGE,
        override_physical_codec: Some(Arc::new(BallistaCodec::sealing())),
        override_config_producer: Some(producing(SessionConfig::new())),
        override_session_builder: Some(Arc::new(move |config| {
            Ok(SessionStateBuilder::new()
                .with_config(config)
                .with_runtime_env(Arc::clone(&environment))
                .with_default_features()
                .build())
        })),
        ..SchedulerConfig::default()
    };
    let ended = |e| Error::io(format!("the scheduler on {address} ended"), std::io::Error::other(e));
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(ended)?;
    ready(address);
    start_server(cluster, address, Arc::new(config)).await.map_err(ended)
}

/// The parameters of an executor.
pub(crate) struct ExecutorProcess<'a> {
    /// The address of its scheduler.
    pub(crate) scheduler: &'a str,
    /// The address from which other processes fetch rows.
    pub(crate) listen: &'a str,
    /// The folder that contains the files of jobs.
    pub(crate) folder: &'a Path,
}

/// Runs an executor with the memory, the threads and the temporary files of `session`, until the
/// process exits. Calls `ready` with the address of the executor.
pub(crate) async fn execute(
    session: &SessionContext,
    executor: ExecutorProcess<'_>,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let scheduler = listening(executor.scheduler, false)?;
    let address = free(listening(executor.listen, false)?)?;
    let host = address.ip().to_string();
    let work = Work::create(executor.folder)?;
    let mut state = session.state();
    let codec = Codec::of(state.config())?;
    SessionPool::set(state.config_mut());
    let threads = state.config().target_partitions();
    let mut config = SessionConfig::new().with_target_partitions(threads);
    if let Some(pool) = state.config().get_extension::<SessionPool>() {
        config.set_extension(pool);
    }
    if let Some(folder) = state.config().get_extension::<TemporaryFolder>() {
        config.set_extension(folder);
    }
    let health = ExecutorHealth::new();
    let environments = Environments::over(Arc::clone(state.runtime_env()));
    let process = ExecutorProcessConfig {
        bind_host: host.clone(),
        external_host: Some(host),
        port: address.port(),
        scheduler_host: scheduler.ip().to_string(),
        scheduler_port: scheduler.port(),
        scheduler_connect_timeout_seconds: WAIT,
        vcores: threads,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work.path().display().to_string()),
        job_data_ttl_seconds: OLD,
        job_data_clean_up_interval_seconds: SWEEP,
        grpc_max_decoding_message_size: MESSAGE,
        grpc_max_encoding_message_size: MESSAGE,
        // All tasks share the memory of the session.
        memory_pool_size: Some(0),
        override_physical_codec: Some(Arc::new(BallistaCodec::reading(codec))),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        health: health.clone(),
        override_config_producer: Some(producing(config)),
        override_runtime_producer: Some(Arc::new(move |config: &SessionConfig| {
            Ok(environments.at(&Settings::of(config.options()).s3))
        })),
        ..ExecutorProcessConfig::default()
    };
    ready(address);
    let alone = SpawnedTask::spawn(cleaned(health, work.path().to_path_buf()));
    let ended = start_executor_process(Arc::new(process)).await;
    drop(alone);
    let removed = work.remove();
    ended.map_err(|e| Error::io(format!("the executor on {address} ended"), std::io::Error::other(e)))?;
    removed
}

/// Removes the files of all jobs whenever the scheduler has not responded for [`ALONE`], because no
/// other process would then request their removal.
async fn cleaned(health: ExecutorHealth, work: PathBuf) {
    let mut silent = Duration::ZERO;
    loop {
        sleep(BEAT).await;
        silent = match health.is_ready() {
            true => Duration::ZERO,
            false => silent + BEAT,
        };
        if silent >= ALONE {
            silent = Duration::ZERO;
            let work = work.clone();
            // Files that cannot be removed now are removed on exit, or by the next executor.
            let remove = move || {
                remove_jobs(&work);
                Ok(())
            };
            let _ = blocking("removing the files of jobs", remove).await;
        }
    }
}

fn remove_jobs(work: &Path) {
    for entry in fs::read_dir(work).into_iter().flatten().flatten() {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Returns a function that creates the configuration of a job: `config`, extended with the settings
/// that a job may set.
fn producing(config: SessionConfig) -> ConfigProducer {
    let mut config = config.upgrade_for_ballista();
    Settings::extend(config.options_mut());
    Arc::new(move || config.clone())
}

/// Returns `address`, with port 0 replaced by a free port. Ballista must know its port before it
/// listens.
fn free(address: SocketAddr) -> Result<SocketAddr> {
    let listener = TcpListener::bind(address);
    let bound = listener.and_then(|listener| listener.local_addr());
    bound.map_err(|e| Error::io(format!("cannot listen on {address}"), e))
}
