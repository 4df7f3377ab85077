//! How long the threads of a process waited in run queues. With more runnable threads than processors, a virtual speedup
//! differs from a real one.

use std::collections::HashMap;
use std::fs;

/// Adds up the waits in `/proc/PID/task/*/schedstat`, over threads that come and go.
#[derive(Debug, Default)]
pub(crate) struct RunQueue {
    seen: HashMap<String, u64>,
    total_ns: u64,
}

impl RunQueue {
    /// Reads the files, and returns the sum so far in nanoseconds. `None` where the kernel does not provide it.
    pub(crate) fn read(&mut self, pid: u32) -> Option<u64> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let mut seen = HashMap::with_capacity(self.seen.len());
        for task in tasks.flatten() {
            let name = task.file_name().to_string_lossy().into_owned();
            let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else {
                continue;
            };
            let waited = waited(&text)?;
            let before = self.seen.get(&name).copied().unwrap_or(0);
            self.total_ns += waited.saturating_sub(before);
            seen.insert(name, waited);
        }
        self.seen = seen;
        Some(self.total_ns)
    }
}

/// The second number of the file: time on the processor, time in its queue, number of time slices.
fn waited(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_time_in_the_queue() {
        assert_eq!(waited("8123 4567 89\n"), Some(4567));
        assert_eq!(waited(""), None);
    }

    #[test]
    fn the_sum_never_falls() {
        let mut queue = RunQueue::default();
        let own = std::process::id();
        let first = queue.read(own).unwrap();
        std::thread::spawn(|| std::hint::black_box((0..1_000_000).sum::<u64>()))
            .join()
            .unwrap();
        assert!(queue.read(own).unwrap() >= first);
        assert_eq!(RunQueue::default().read(u32::MAX), None);
    }
}
