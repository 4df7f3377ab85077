//! Waiting for states of other processes.

use std::time::{Duration, Instant};

/// How long a test waits. What has not happened by then will not.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Calls `check` again and again until it returns something.
///
/// # Panics
///
/// After [`PATIENCE`], with `what`.
pub fn until<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(Instant::now() < limit, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
