//! Words what is missing from a profile, one sentence each.

use std::collections::BTreeMap;

use super::record::{Ending, ProcessRecord};
use crate::context::joined::Joined;
use crate::crosstalk::Holder;
use crate::messages::{Matches, Unmatched};

/// The most peers that are named. Further ones are counted.
const NAMED_PEERS: usize = 5;

pub(super) fn notes(records: &[ProcessRecord], matches: &Matches, joined: &Joined) -> Vec<String> {
    let mut notes = Vec::new();
    for record in records {
        of_process(record, &mut notes);
    }
    for (process, contexts) in joined.missing() {
        notes.push(format!(
            "Process {process} took part in {} but was not fully recorded: its part is missing.",
            counted(contexts as u64, "context")
        ));
    }
    if joined.contexts().cuts().full > 0 {
        notes.push(
            "All processes together had too many contexts: some are counted as shorter ones."
                .into(),
        );
    }
    if let Some((peers, calls)) = peers(&matches.unread) {
        notes.push(format!(
            "{} to {peers} reached a process that was not recorded: the work done there is missing.",
            counted(calls, "message")
        ));
    }
    if let Some((peers, calls)) = peers(&matches.unwritten) {
        notes.push(format!(
            "{} from {peers} came from a process that was not recorded: their transactions begin at the receiver.",
            counted(calls, "read")
        ));
    }
    if matches.unseen_bytes > 0 {
        notes.push(format!(
            "The recorder did not see {} between recorded processes, sent by io_uring or by the program's own system calls.",
            counted(matches.unseen_bytes, "byte")
        ));
    }
    if matches.overlaps > 0 {
        notes.push(format!(
            "Left out: {} at offsets where something had already been sent.",
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
            "The record of {name} is cut off: the rest is missing."
        ));
    }
    if record.cuts.long > 0 {
        let times = counted(record.cuts.long, "time");
        notes.push(format!(
            "In {name}, contexts became too long and were cut off, {times}."
        ));
    }
    if record.cuts.full > 0 {
        let times = counted(record.cuts.full, "time");
        notes.push(format!(
            "{name} had too many contexts: some are counted as shorter ones, {times}."
        ));
    }
    if record.profile.unplaced() > 0 {
        let samples = counted(record.profile.unplaced(), "sample");
        notes.push(format!(
            "Counted for an outer function: {samples} of {name}, which had too many call paths."
        ));
    }
    if record.flows.left_out() > 0 {
        let flows = counted(record.flows.left_out(), "flow");
        notes.push(format!(
            "Not shown: {flows} of {name}, which had too many pairs of contexts."
        ));
    }
    crosstalk_of_process(&name, record, notes);
}

fn crosstalk_of_process(name: &str, record: &ProcessRecord, notes: &mut Vec<String>) {
    let waits = record.waits.ranked().into_iter();
    let unknown: u64 = waits
        .filter(|it| it.holder == Holder::Unknown)
        .map(|it| it.count)
        .sum();
    if unknown > 0 {
        let waits = counted(unknown, "wait");
        notes.push(format!("In {name}, {waits} had an unknown holder."));
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
            "Not in the crosstalk: {waits} that had not ended when {name} did."
        ));
    }
    let left_out = record.waits.left_out().count + record.leftovers.left_out;
    if left_out > 0 {
        let events = counted(left_out, "event");
        notes.push(format!(
            "Not in the crosstalk: {events} of {name}, which had too many locks or pairs of transactions."
        ));
    }
}

/// The peers as text and the number of their calls, or `None` if there are none.
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
