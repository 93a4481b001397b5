//! The settings of a bench run.

/// Returns true if every bench runs only once, on little data, as under `cargo test --benches`.
pub fn is_quick() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// Returns a runtime of `threads` threads.
pub fn runtime(threads: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .expect("a runtime")
}
