//! Measures the time of one run.

use std::time::{Duration, Instant};

/// Returns the CPU time of the calling thread. The scheduler updates it up to one tick late, so it
/// is only precise enough for long runs.
pub fn thread_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Returns the CPU time of all threads of the process, to a hundredth of a second.
pub fn process_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the command is in parentheses and may contain spaces.
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields.skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Runs a function. Returns its wall time, the CPU time of the calling thread, and its result.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Duration, Duration, T) {
    let (cpu, wall) = (thread_cpu(), Instant::now());
    let answer = run();
    (wall.elapsed(), thread_cpu().saturating_sub(cpu), answer)
}
