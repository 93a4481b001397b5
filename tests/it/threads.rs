//! Tests the threads in the process of a program that uses the library. The process has the threads
//! that its sessions request, and no other threads of anonsql.

use crate::common::context;
use anonsql::AnonContext;

/// Releases a table to a folder. The table has enough combinations for several threads.
async fn release(context: &AnonContext, target: &std::path::Path) {
    let rows = "SELECT value % 331 AS a, value / 331 % 331 AS b, value % 3 AS c FROM range(0, 150000)";
    let sql = format!(
        "CREATE TABLE people AS {rows};
         CREATE HIERARCHY ten AS INTERVALS (10, 100);
         ANONYMIZE people TO '{}' QUASI IDENTIFIERS (a USING ten, b USING ten) KEEP (c) SATISFYING k_anonymity(50)",
        target.display()
    );
    context.sql(&sql).await.unwrap();
}

/// Rayon starts the global pool of the process at its first use. Afterwards, no other code can
/// configure this pool.
#[tokio::test]
async fn the_pool_of_the_process_is_left_to_whoever_embeds_us() {
    let scratch = tempfile::tempdir().unwrap();
    for threads in [1, 3] {
        release(&context(threads), &scratch.path().join(threads.to_string())).await;
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
}

/// Returns the number of threads of this process with this name.
#[cfg(target_os = "linux")]
fn called(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
    names.filter(|n| n.trim_end() == name).count()
}

/// A pool has as many threads as the session has partitions, also after a SET.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_session_has_as_many_threads_as_partitions() {
    let scratch = tempfile::tempdir().unwrap();
    let context = context(2);
    context
        .sql("SET datafusion.execution.target_partitions = 41")
        .await
        .unwrap();
    assert_eq!(called("anonsql-40"), 0);
    release(&context, &scratch.path().join("out")).await;
    assert_eq!((called("anonsql-40"), called("anonsql-41")), (1, 0));
}
