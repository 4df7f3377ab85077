//! Finds the critical section of a crosstalk to measure: the function whose sections make others wait, and the lock.

use std::collections::BTreeSet;

use fulcrum_runs::PricedSection;
use fulcrum_schema::{CrosstalkPair, CrosstalkPaths};
use fulcrum_transaction_records::run::Run;

/// Which section is asked for.
#[derive(Clone, Debug, Default)]
pub struct Question<'a> {
    /// The type that waits.
    pub waits: &'a str,
    /// The type that it waits for.
    pub holds: &'a str,
    /// The lock; `None` for the one where it waits the longest.
    pub at: Option<&'a str>,
    /// The function whose sections are meant; `None` to find it by the call paths.
    pub function: Option<&'a str>,
    /// How the waiter's work is counted.
    pub completes: Completion,
}

/// By what it is measured how long the waiter takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// Its requests, which arrive at these programs; empty when that is not known.
    Requests(BTreeSet<String>),
    /// A line that the user has named.
    #[default]
    Line,
}

impl Completion {
    /// By the requests of a type of a run.
    pub fn of_requests(run: &Run, waits: &str) -> Completion {
        let ways = run.ways.iter();
        let ways = ways.filter(|it| run.stitched.type_name(it.of) == waits);
        let first = ways.filter_map(|it| it.stays.first());
        Completion::Requests(first.map(|it| it.program.clone()).collect())
    }

    /// Why requests do not show how long the waiter takes: it waits in another process than they arrive at.
    fn why_not(&self, pair: &CrosstalkPair) -> Option<String> {
        let Completion::Requests(programs) = self else {
            return None;
        };
        // Paths begin with their program where there are several.
        let (program, _) = pair.paths.first()?.waiter.split_once(": ")?;
        if programs.is_empty() || programs.contains(program) {
            return None;
        }
        let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
        Some(format!(
            "{} arrives at {} but waits in {program}: give a line of {program} that each such request passes, with --progress \
             FILE:LINE",
            pair.waiter,
            programs.join(", ")
        ))
    }
}

/// The section that is asked for.
///
/// # Errors
/// One sentence, when there is none, or none whose time could be shortened.
pub fn section(pairs: &[CrosstalkPair], question: &Question<'_>) -> Result<PricedSection, String> {
    let pair = pair(pairs, question)?;
    if let Some(why) = why_not(pair).or_else(|| question.completes.why_not(pair)) {
        return Err(why);
    }
    let found = match question.function {
        Some(function) => Blocker::given(pair, function),
        None => Blocker::longest(pair).ok_or_else(|| {
            format!(
                "it is not known where {} held {}: name the function with --in",
                pair.holder, pair.lock
            )
        })?,
    };
    Ok(PricedSection {
        waiter: pair.waiter.clone(),
        holder: pair.holder.clone(),
        lock: pair.lock.clone(),
        mean_ns: pair.mean_ns,
        any_lock: !is_variable(&pair.lock),
        shared: found.shared,
        share: found.wait_ns as f64 / all(pair).max(1) as f64,
        function: found.function,
        request: (question.completes != Completion::Line).then(|| pair.waiter.clone()),
    })
}

/// The row of the crosstalk.
fn pair<'a>(
    pairs: &'a [CrosstalkPair],
    question: &Question<'_>,
) -> Result<&'a CrosstalkPair, String> {
    let Question { waits, holds, .. } = question;
    let of_both = || {
        pairs
            .iter()
            .filter(|it| it.waiter == *waits && it.holder == *holds)
    };
    // The longest come first.
    let found = of_both().find(|it| question.at.is_none_or(|at| it.lock == at));
    found.ok_or_else(|| {
        let locks: Vec<&str> = of_both().map(|it| it.lock.as_str()).collect();
        match (question.at, locks.is_empty()) {
            (Some(at), false) => format!(
                "{waits} never waited for {holds} at {at}; it did at {}",
                locks.join(", ")
            ),
            _ => format!("{waits} never waited for {holds}: `fulcrum transactions crosstalk` lists which type waited for which"),
        }
    })
}

/// Why sections of this kind cannot be measured.
fn why_not(pair: &CrosstalkPair) -> Option<String> {
    let CrosstalkPair { lock, kind, .. } = pair;
    match kind.as_str() {
        "mutex" | "rwlock" => None,
        "condition" | "semaphore" => Some(format!(
            "{lock} is a {kind}: whoever signalled it last counts as its holder, but there is no section between taking and \
             giving back that could take less time"
        )),
        "monitor" => Some(format!(
            "{lock} is a lock of a Java virtual machine, whose code cannot be sped up"
        )),
        _ => Some(format!(
            "{lock} is a {kind} of the program's own: Fulcrum cannot see where its critical sections begin and end"
        )),
    }
}

/// Whether a lock is a variable of the program, which is found in every process of it; others are named by where they are
/// waited for, or by their address.
fn is_variable(lock: &str) -> bool {
    !lock.starts_with("in ") && !lock.starts_with("0x")
}

/// All waits whose paths are known, nanoseconds.
fn all(pair: &CrosstalkPair) -> u64 {
    pair.paths.iter().map(|it| it.wait_ns).sum()
}

/// A function behind whose sections others wait.
struct Blocker {
    function: String,
    /// How long they waited, nanoseconds.
    wait_ns: u64,
    /// Waiters go through it, too.
    shared: bool,
}

impl Blocker {
    /// The one that the user names.
    fn given(pair: &CrosstalkPair, function: &str) -> Blocker {
        let through = |functions: &[String]| functions.iter().any(|it| it == function);
        let held = pair.paths.iter().filter(|it| through(&it.holder_functions));
        Blocker {
            function: function.into(),
            wait_ns: held.map(|it| it.wait_ns).sum(),
            shared: pair.paths.iter().any(|it| through(&it.waiter_functions)),
        }
    }

    /// Of the functions that distinguish holders from waiters, the one behind which most time is waited.
    fn longest(pair: &CrosstalkPair) -> Option<Blocker> {
        let candidates = pair.paths.iter().filter_map(distinguishing_function);
        let behind = candidates.map(|function| Blocker::given(pair, function));
        // The first of equal ones.
        behind.reduce(|best, it| if it.wait_ns > best.wait_ns { it } else { best })
    }
}

/// The function that is in the holder's path during the whole section, and not in the waiter's if possible.
///
/// Both paths end where the lock is taken or released. They begin with the server's functions; the first function of the
/// holder's path that differs is specific to this holder. Functions that only take or release a lock are on no stack in between.
fn distinguishing_function(paths: &CrosstalkPaths) -> Option<&str> {
    let holder = without_lock_functions(&paths.holder_functions);
    let waiter = without_lock_functions(&paths.waiter_functions);
    let alike = holder.iter().zip(waiter).take_while(|(a, b)| a == b);
    let first = holder.get(alike.count()).or(holder.last())?;
    Some(first.as_str())
}

/// Leaves out the innermost functions that only take or release a lock: `std::lock_guard<…>::~lock_guard`.
fn without_lock_functions(functions: &[String]) -> &[String] {
    let kept = functions.iter().rposition(|it| !is_of_locks(it));
    &functions[..kept.map_or(0, |at| at + 1)]
}

/// Whether a function's name says that it takes or releases a lock.
fn is_of_locks(function: &str) -> bool {
    const WORDS: [&str; 7] = [
        "lock", "unlock", "trylock", "rdlock", "wrlock", "guard", "mutex",
    ];
    const PARTS: [&str; 4] = ["lockguard", "mutexguard", "uniquelock", "scopedlock"];
    let lower = function.to_ascii_lowercase();
    // `cart_lock`, `Mutex::lock`; not `block` or `clock_update`.
    let mut words = lower.split(|it: char| !it.is_ascii_alphanumeric());
    words.any(|word| WORDS.contains(&word)) || PARTS.iter().any(|it| lower.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let words = text.split(" > ").filter(|it| !it.is_empty());
        words.map(str::to_owned).collect()
    }

    fn pair(lock: &str, kind: &str, paths: &[(&str, &str, u64)]) -> CrosstalkPair {
        let paths = paths
            .iter()
            .map(|&(waiter, holder, wait_ns)| CrosstalkPaths {
                waiter: waiter.into(),
                waiter_functions: words(waiter),
                holder: Some(holder.into()).filter(|it: &String| !it.is_empty()),
                holder_functions: words(holder),
                wait_ns,
            });
        CrosstalkPair {
            waiter: "GET /checkout".into(),
            holder: "GET /report".into(),
            lock: lock.into(),
            kind: kind.into(),
            count: 5,
            wait_ns: 50,
            mean_ns: 10.0,
            paths: paths.collect(),
            price: None,
            gain: None,
        }
    }

    const QUESTION: Question<'static> = Question {
        waits: "GET /checkout",
        holds: "GET /report",
        at: None,
        function: None,
        completes: Completion::Line,
    };

    fn found(paths: &[(&str, &str, u64)]) -> (String, bool, f64) {
        let found = section(&[pair("cart_lock", "mutex", paths)], &QUESTION).unwrap();
        assert!(!found.any_lock);
        (found.function, found.shared, found.share)
    }

    #[test]
    fn the_function_that_tells_the_holder_from_the_waiter_is_sped_up() {
        for (paths, function, shared, share) in [
            (
                &[("serve > checkout", "serve > report", 10)][..],
                "report",
                false,
                1.0,
            ),
            (
                &[(
                    "serve > checkout > cart_lock_take",
                    "serve > report > totals > unlock",
                    10,
                )],
                "report",
                false,
                1.0,
            ),
            // Both do the same: the waiter's own sections are among those that are sped up.
            (
                &[(
                    "serve > handle > lock_cart",
                    "serve > handle > unlock_cart",
                    10,
                )],
                "handle",
                true,
                1.0,
            ),
            (
                &[(
                    "serve > std::lock_guard<std::mutex>::lock_guard",
                    "serve > report > std::lock_guard<std::mutex>::~lock_guard",
                    10,
                )],
                "report",
                false,
                1.0,
            ),
            // The one behind which most is waited for, and how much that is.
            (
                &[
                    ("serve > checkout", "serve > audit", 10),
                    ("serve > checkout", "serve > report > a", 20),
                    ("serve > pay", "serve > report > b", 10),
                ],
                "report",
                false,
                0.75,
            ),
            (
                &[("serve > tick", "serve > clock_update", 1)],
                "clock_update",
                false,
                1.0,
            ),
        ] {
            assert_eq!(found(paths), (function.into(), shared, share), "{paths:?}");
        }
    }

    #[test]
    fn the_user_may_name_the_function() {
        let paths = [("serve > checkout", "serve > report > totals", 10)];
        let question = Question {
            function: Some("totals"),
            ..QUESTION
        };
        let found = section(&[pair("cart_lock", "mutex", &paths)], &question).unwrap();
        assert_eq!((&*found.function, found.share), ("totals", 1.0));
    }

    #[test]
    fn locks_that_are_no_variables_stand_for_any() {
        for lock in ["in take", "0x7f00"] {
            let pairs = [pair(lock, "rwlock", &[("a", "b", 1)])];
            assert!(section(&pairs, &QUESTION).unwrap().any_lock, "{lock}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused_in_a_sentence() {
        let paths = [("serve > checkout", "serve > report", 10)];
        for (lock, kind, paths, at, why) in [
            (
                "l",
                "condition",
                &paths[..],
                None,
                "whoever signalled it last",
            ),
            ("l", "semaphore", &paths, None, "is a semaphore"),
            ("l", "futex", &paths, None, "of the program's own"),
            ("l", "monitor", &paths, None, "Java virtual machine"),
            (
                "l",
                "mutex",
                &[("serve", "", 1)],
                None,
                "it is not known where",
            ),
            ("l", "mutex", &paths, Some("m"), "at m; it did at l"),
        ] {
            let question = Question { at, ..QUESTION };
            let refused = section(&[pair(lock, kind, paths)], &question).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let here = pair(
            "l",
            "mutex",
            &[("database: serve_back > checkout", "database: report", 1)],
        );
        for (programs, why) in [
            (
                &["shop"][..],
                Some("arrives at shop but waits in database: give a line of database"),
            ),
            (&["database"], None),
            (&[], None),
        ] {
            let programs = programs.iter().map(|it| (*it).to_owned());
            let question = Question {
                completes: Completion::Requests(programs.collect()),
                ..QUESTION
            };
            match (section(std::slice::from_ref(&here), &question), why) {
                (Err(refused), Some(why)) => assert!(refused.contains(why), "{refused}"),
                (found, why) => assert!(found.is_ok() && why.is_none(), "{found:?} {why:?}"),
            }
        }
        let refused = section(&[], &QUESTION).unwrap_err();
        assert!(
            refused.contains("never waited for GET /report"),
            "{refused}"
        );
    }
}
