//! Waiting for states that another process brings about.

use std::time::{Duration, Instant};

/// After this nothing more is waited for: what has not happened by then will not.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until there is something to see.
///
/// # Panics
///
/// After [`PATIENCE`], with what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
