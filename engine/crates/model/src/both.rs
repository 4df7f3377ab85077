//! Two things at once.

use std::panic::resume_unwind;
use std::thread;

/// Two results, the first from a thread of its own; from this one, where no thread can start.
pub fn both<A: Send, B>(first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, &first);
        let second = second();
        let first = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => first(),
        };
        (first, second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_is_in_its_place() {
        let text = String::from("first");
        let (first, second) = both(|| (text.len(), thread::current().id()), || text.as_str());
        assert_eq!((first.0, second), (5, "first"));
        assert_ne!(first.1, thread::current().id());
    }
}
