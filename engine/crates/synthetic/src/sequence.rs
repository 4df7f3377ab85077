//! The costly call sequences that a search should find.

use crate::program::Program;
use fulcrum_stats::Random;

/// The share of each sequence in the planted cost. Fourteen have 97 % of it: to cover as much as the paper's expert did with fourteen,
/// a search must find nearly all of them.
pub(crate) const SHARES: [f64; 20] = [
    0.225, 0.145, 0.124, 0.090, 0.079, 0.062, 0.051, 0.045, 0.036, 0.031, 0.027, 0.022, 0.019,
    0.016, 0.008, 0.006, 0.005, 0.004, 0.003, 0.002,
];

/// The sequences that begin alike, like the paper's three ways to reuse a database connection.
const ALIKE: std::ops::Range<usize> = 5..8;

/// The sequence that ends with a cycle of calls, which is repeated a different number of times in each context.
const CYCLE: usize = 3;

const STEPS: [&str; 10] = [
    "preInvoke",
    "delegate",
    "authorize",
    "resolve",
    "dispatch",
    "verify",
    "wrap",
    "propagate",
    "unwrap",
    "validate",
];

const TAILS: [&[&str]; 4] = [
    &[
        "SecurityManager.checkPermission",
        "SecurityManager.checkPermission",
        "AccessController.checkPermission",
        "AccessController.getStackAccessControlContext",
    ],
    &[
        "Class.checkMemberAccess",
        "SecurityManager.checkMemberAccess",
        "SecurityManager.getClassContext",
    ],
    &["Subject.equals", "Set.containsAll", "Principal.equals"],
    &["Subject.hashCode", "Set.hashCode", "String.hashCode"],
];

/// A sequence without contexts.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    /// The calls, outermost first. The first is the sequence's own method, except in sequences that begin alike.
    pub(crate) calls: Vec<u32>,
    /// The number of last calls that may be repeated.
    pub(crate) cycle: usize,
}

/// Generates sequences with this many names on average, each with a method of the program before its calls.
pub(crate) fn sequences(
    program: &mut Program,
    length: usize,
    random: &mut Random,
) -> Vec<Sequence> {
    let mut all: Vec<Sequence> = Vec::new();
    for n in 0..SHARES.len() {
        let tail = TAILS[n % TAILS.len()]
            .iter()
            .map(|name| Program::library(name));
        let spread = length / 2;
        let names = (length - spread / 2 + random.index(spread + 1)).max(tail.len() + 2);
        let own = names - 1 - tail.len();
        // Whose check it is, what is done with all privileges, and on whose behalf.
        let who = if ALIKE.contains(&n) { ALIKE.start } else { n };
        let mut calls: Vec<u32> = Vec::new();
        let step = |program: &mut Program, class: String, m: usize| {
            let again = if m < STEPS.len() { "" } else { "Again" };
            program.add(format!("{class}.{}{again}", STEPS[m % STEPS.len()]))
        };
        let before = if own >= 5 { own / 2 } else { own };
        if ALIKE.contains(&n) && n > ALIKE.start {
            let first: &Sequence = &all[ALIKE.start];
            let wanted = |it: &&u32| program.names()[**it as usize].starts_with("Collaborator");
            calls.extend(first.calls.iter().take_while(wanted));
        } else {
            calls.extend((0..before).map(|m| step(program, format!("Collaborator{who}"), m)));
        }
        if before < own || calls.len() < own {
            calls.push(Program::library("AccessController.doPrivileged"));
        }
        for m in calls.len()..own {
            calls.push(step(program, format!("Action{n}"), m));
        }
        calls.extend(tail);
        all.push(Sequence {
            calls,
            cycle: if n == CYCLE { 2 } else { 0 },
        });
    }
    all
}
