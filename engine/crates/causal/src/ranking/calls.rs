//! Targets that are a call: in which function their time passes, and so what a virtual speedup of them means.
//!
//! Samples measure processor time, so a line that waits has few, and a speedup of it shortens none of its waits. Hooks around
//! functions that may wait measure the waits: the wall time in a function, minus the time on a processor (by samples) and in a run
//! queue, was spent waiting. If most of a target's time passes in one function, its result is about calling that function, not
//! about the code of the line.

use std::collections::BTreeMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{CallDoes, CallTime, InCall, Recording, Stream};

/// The share of a target's time that must pass in one function.
const MOST: f64 = 0.5;
/// Less time than this many sampling periods says nothing.
const FEWEST: f64 = 20.0;

/// Fewer observations of who held a lock say nothing.
const FEWEST_HOLDERS: u64 = 5;

/// Functions that move data: the kernel works for them while they do not wait.
const TRANSFERS: [&str; 9] = [
    "read", "write", "writev", "send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg",
];

/// A target's time in one function, in sampling periods.
#[derive(Clone, Copy, Default)]
struct Time {
    processor: f64,
    waiting: f64,
    /// In streams whose samples leave the kernel out.
    unseen: bool,
}

impl Time {
    /// The time of a call in a stream. On a busy machine threads also stand in run queues for long, which is not the call's doing.
    fn of(call: &CallTime, stream: &Stream) -> Time {
        let processor = call.processor as f64;
        Time {
            processor,
            waiting: (call.whole as f64 - processor * (1.0 + stream.queued)).max(0.0),
            unseen: stream.kernel_unseen,
        }
    }

    fn add(&mut self, other: Time) {
        self.processor += other.processor;
        self.waiting += other.waiting;
        self.unseen |= other.unseen;
    }

    fn all(self) -> f64 {
        self.processor + self.waiting
    }
}

/// The targets of a recording whose time mostly passes in one function.
pub(crate) fn dominant_calls(recording: &Recording) -> BTreeMap<&TargetId, InCall> {
    let mut times: BTreeMap<&TargetId, BTreeMap<&str, Time>> = BTreeMap::new();
    for stream in &recording.streams {
        for call in &stream.calls {
            let functions = times.entry(&call.target).or_default();
            let time = functions.entry(&call.function).or_default();
            time.add(Time::of(call, stream));
        }
    }
    let samples: BTreeMap<&TargetId, u64> =
        recording.samples.iter().map(|it| (&it.0, it.1)).collect();
    let holders = holders(recording);
    let found = times.into_iter().filter_map(|(target, functions)| {
        let samples = samples.get(target).copied().unwrap_or_default();
        let call = most(samples, &functions)?;
        let holder = holders.get(target).filter(|_| call.does == CallDoes::Waits);
        let holder = holder.copied().cloned();
        Some((target, InCall { holder, ..call }))
    });
    found.collect()
}

/// Of each target that waited for locks, who mostly held them.
fn holders(recording: &Recording) -> BTreeMap<&TargetId, &TargetId> {
    let mut counts: BTreeMap<&TargetId, BTreeMap<&TargetId, u64>> = BTreeMap::new();
    for it in recording.streams.iter().flat_map(|it| &it.holders) {
        let sum = counts
            .entry(&it.waiter)
            .or_default()
            .entry(&it.holder)
            .or_default();
        *sum = sum.saturating_add(it.count);
    }
    let mostly = counts.into_iter().filter_map(|(waiter, holders)| {
        let all = holders
            .values()
            .fold(0_u64, |all, it| all.saturating_add(*it));
        let (holder, count) = holders.into_iter().max_by_key(|it| it.1)?;
        let is_most = all >= FEWEST_HOLDERS && count as f64 >= MOST * all as f64;
        is_most.then_some((waiter, holder))
    });
    mostly.collect()
}

fn most(samples: u64, functions: &BTreeMap<&str, Time>) -> Option<InCall> {
    let waits: f64 = functions.values().map(|it| it.waiting).sum();
    let whole = samples as f64 + waits;
    let most = functions.iter();
    let (function, time) = most.max_by(|a, b| a.1.all().total_cmp(&b.1.all()))?;
    let part = |time: f64| (time / whole).min(1.0);
    if whole < FEWEST || part(time.all()) < MOST {
        return None;
    }
    let does = if time.unseen && TRANSFERS.contains(function) {
        CallDoes::Unseen
    } else if time.waiting > time.processor {
        CallDoes::Waits
    } else {
        CallDoes::Works
    };
    Some(InCall {
        function: (*function).to_owned(),
        processor: part(time.processor),
        waiting: part(time.waiting),
        does,
        holder: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_model::causal::{Holder, KERNEL};

    /// Of a line with so many samples, whose calls took so many samples and so much time.
    fn check(samples: u64, calls: &[(&str, u64, u64)], unseen: bool) -> Option<InCall> {
        let line: TargetId = "a.c:7".parse().expect("a target");
        let call = |&(function, processor, whole): &(&str, u64, u64)| CallTime {
            target: line.clone(),
            function: function.to_owned(),
            processor,
            whole,
        };
        let stream = Stream {
            calls: calls.iter().map(call).collect(),
            kernel_unseen: unseen,
            ..Stream::default()
        };
        let recording = Recording {
            samples: vec![(line.clone(), samples)],
            streams: vec![stream],
            ..Recording::default()
        };
        dominant_calls(&recording).remove(&line)
    }

    fn summary(samples: u64, calls: &[(&str, u64, u64)]) -> Option<(String, u64, u64, CallDoes)> {
        let percent = |part: f64| (part * 100.0).round() as u64;
        check(samples, calls, false).map(|it| {
            let (processor, waiting) = (percent(it.processor), percent(it.waiting));
            (it.function, processor, waiting, it.does)
        })
    }

    #[test]
    fn what_a_line_mostly_does() {
        let works = |name: &str, processor, waiting| {
            Some((name.to_owned(), processor, waiting, CallDoes::Works))
        };
        let waits = |name: &str, processor, waiting| {
            Some((name.to_owned(), processor, waiting, CallDoes::Waits))
        };
        let lock = "pthread_mutex_lock";
        for (samples, calls, expected) in [
            // memcached's line that sends.
            (1000, &[("sendmsg", 930, 940)][..], works("sendmsg", 92, 1)),
            // One that waits for a lock takes next to no processor time.
            (10, &[(lock, 4, 400)], waits(lock, 1, 98)),
            // Ordinary code that calls now and then.
            (1000, &[("write", 100, 120)], None),
            (1000, &[], None),
            // Neither is most, but together they are.
            (100, &[("write", 70, 150)], waits("write", 39, 44)),
            // Of several, the one with most of the time.
            (100, &[("read", 5, 10), (lock, 0, 300)], waits(lock, 0, 74)),
            (100, &[(KERNEL, 80, 0)], works(KERNEL, 80, 0)),
            // Too little time.
            (3, &[(lock, 0, 10)], None),
        ] {
            assert_eq!(summary(samples, calls), expected, "{samples}: {calls:?}");
        }
    }

    #[test]
    fn where_samples_leave_the_kernel_out_its_work_is_not_called_waiting() {
        let does = |calls: &[(&str, u64, u64)]| check(50, calls, true).map(|it| it.does);
        assert_eq!(does(&[("sendmsg", 20, 800)]), Some(CallDoes::Unseen));
        // It only waits, whether samples see the kernel or not.
        assert_eq!(
            does(&[("pthread_cond_wait", 20, 800)]),
            Some(CallDoes::Waits)
        );
    }

    #[test]
    fn time_in_a_run_queue_is_not_waiting_in_the_call() {
        let line: TargetId = "a.c:7".parse().expect("a target");
        let found = |queued| {
            let stream = Stream {
                calls: vec![CallTime {
                    target: line.clone(),
                    function: "write".into(),
                    processor: 100,
                    whole: 380,
                }],
                queued,
                ..Stream::default()
            };
            let recording = Recording {
                samples: vec![(line.clone(), 110)],
                streams: vec![stream],
                ..Recording::default()
            };
            dominant_calls(&recording).remove(&line).expect("a call")
        };
        // Other programs had the processor three quarters of the time.
        assert_eq!(found(2.8).does, CallDoes::Works);
        assert_eq!(found(2.8).waiting, 0.0);
        assert_eq!(found(0.0).does, CallDoes::Waits);
    }

    #[test]
    fn a_line_that_waits_for_a_lock_says_who_mostly_holds_it() {
        let line = |number: u32| -> TargetId { format!("a.c:{number}").parse().expect("a line") };
        let holder = |counts: &[(u32, u64)]| {
            let held = |&(by, count): &(u32, u64)| Holder {
                waiter: line(7),
                holder: line(by),
                count,
            };
            let stream = Stream {
                calls: vec![CallTime {
                    target: line(7),
                    function: "pthread_mutex_lock".into(),
                    processor: 1,
                    whole: 100,
                }],
                holders: counts.iter().map(held).collect(),
                ..Stream::default()
            };
            let recording = Recording {
                streams: vec![stream],
                ..Recording::default()
            };
            let found = dominant_calls(&recording).remove(&line(7));
            found.expect("a call").holder
        };
        assert_eq!(holder(&[(9, 8), (12, 3)]), Some(line(9)));
        assert_eq!(holder(&[(9, 4), (12, 3), (13, 3)]), None, "no one mostly");
        assert_eq!(holder(&[(9, 3)]), None, "too few");
        assert_eq!(holder(&[]), None);
    }

    #[test]
    fn a_damaged_recording_does_not_panic() {
        let most = u64::MAX;
        let found = check(most, &[("read", most, most), ("write", 0, most)], false);
        assert!(found.is_none_or(|it| (0.0..=1.0).contains(&it.processor)));
    }
}
