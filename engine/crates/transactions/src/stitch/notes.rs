//! What is missing from a profile, a sentence each.

use std::collections::BTreeMap;

use super::record::{Ending, ProcessRecord};
use crate::joined::Joined;
use crate::messages::{Matches, Unmatched};

/// Peers that are named; of more, the number is told.
const NAMED_PEERS: usize = 5;

pub(super) fn notes(records: &[ProcessRecord], matches: &Matches, joined: &Joined) -> Vec<String> {
    let mut notes = Vec::new();
    for record in records {
        of_process(record, &mut notes);
    }
    for (process, contexts) in joined.missing() {
        notes.push(format!(
            "Process {process} took part in {} and was not recorded whole: its part is missing from them.",
            counted(contexts as u64, "context")
        ));
    }
    if let Some((peers, calls)) = peers(&matches.unread) {
        notes.push(format!(
            "{} to {peers} met no recorded process: what was done there is missing.",
            counted(calls, "message")
        ));
    }
    if let Some((peers, calls)) = peers(&matches.unwritten) {
        notes.push(format!(
            "{} from {peers} came from no recorded process: transactions begin where they arrived.",
            counted(calls, "read")
        ));
    }
    if matches.unseen_bytes > 0 {
        notes.push(format!(
            "{} between recorded processes went past the recorder, by io_uring or by system calls of the program's own.",
            counted(matches.unseen_bytes, "byte")
        ));
    }
    if matches.overlaps > 0 {
        notes.push(format!(
            "{} had offsets at which something had been sent before, and were left out.",
            counted(matches.overlaps, "message")
        ));
    }
    notes
}

fn of_process(record: &ProcessRecord, notes: &mut Vec<String>) {
    let name = format!(
        "{} ({})",
        record.dictionary.program, record.dictionary.process
    );
    if record.ending == Ending::CutOff {
        notes.push(format!(
            "The record of {name} was cut off: what came later is missing."
        ));
    }
    if record.cuts.long > 0 {
        let times = counted(record.cuts.long, "time");
        notes.push(format!(
            "In {name}, contexts that had become too long were cut off, {times}."
        ));
    }
    if record.cuts.full > 0 {
        let times = counted(record.cuts.full, "time");
        notes.push(format!(
            "{name} had too many contexts: some count as what they began with, {times}."
        ));
    }
    if record.profile.unplaced() > 0 {
        let samples = counted(record.profile.unplaced(), "sample");
        notes.push(format!(
            "{name} had too many call paths: {samples} count for an outer function."
        ));
    }
    for (lock, _) in &record.leftovers.held {
        notes.push(format!(
            "{name} ended while {} was held.",
            record.lock_name(*lock)
        ));
    }
    if record.leftovers.waits > 0 {
        let waits = counted(record.leftovers.waits, "wait");
        notes.push(format!(
            "{name} ended during {waits}, which are not in the crosstalk."
        ));
    }
    let left_out = record.waits.left_out().count + record.leftovers.left_out;
    if left_out > 0 {
        notes.push(format!(
            "{name} had too many locks or pairs of transactions: {} are not in the crosstalk.",
            counted(left_out, "event")
        ));
    }
}

/// Peers in words, and their calls; `None` when there is no peer.
fn peers(unmatched: &BTreeMap<String, Unmatched>) -> Option<(String, u64)> {
    if unmatched.is_empty() {
        return None;
    }
    let calls = unmatched.values().map(|it| it.calls).sum();
    let named: Vec<&str> = unmatched.keys().take(NAMED_PEERS).map(|it| &**it).collect();
    let more = unmatched.len().saturating_sub(NAMED_PEERS);
    let text = match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    };
    Some((text, calls))
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
