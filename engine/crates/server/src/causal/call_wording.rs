//! The wording of results for lines that are calls: what the number means.

use fulcrum_model::TargetKind;
use fulcrum_model::causal::{CallDoes, InCall, KERNEL, Target};

/// What a function does that a line may wait in, or that the kernel works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Lock,
    OtherThread,
    Sleep,
    Outside,
    Receive,
    Send,
    Kernel,
}

impl Family {
    fn of(function: &str) -> Family {
        match function {
            KERNEL => Family::Kernel,
            "mtx_lock" | "mtx_timedlock" => Family::Lock,
            _ if function.contains("mutex") || function.contains("rwlock") => Family::Lock,
            "nanosleep" | "clock_nanosleep" | "usleep" | "sleep" | "thrd_sleep" => Family::Sleep,
            "read" | "recv" | "recvfrom" | "recvmsg" => Family::Receive,
            "write" | "writev" | "send" | "sendto" | "sendmsg" => Family::Send,
            "accept" | "accept4" | "poll" | "ppoll" | "select" | "pselect" | "epoll_wait"
            | "epoll_pwait" => Family::Outside,
            _ => Family::OtherThread,
        }
    }

    /// What reduces its work.
    fn reduction(self) -> &'static str {
        match self {
            Family::Kernel => {
                "fewer system calls, or less memory that is touched for the first time"
            }
            Family::Send => "sending less, or less often",
            Family::Receive => "receiving less, or less often",
            Family::Lock | Family::OtherThread | Family::Sleep | Family::Outside => {
                "calling it less often"
            }
        }
    }

    /// What to do about its waits.
    fn advice(self) -> &'static str {
        match self {
            Family::Lock => "look at who holds the lock, and for how long.",
            Family::OtherThread => "look at the thread that it waits for.",
            Family::Sleep | Family::Outside | Family::Receive | Family::Send | Family::Kernel => {
                "a run that speeds up blocked calls shows what a shorter wait is worth."
            }
        }
    }
}

/// `mostly waits in pthread_mutex_lock`, to follow a result; `None` for ordinary code.
pub(crate) fn remark(target: &Target) -> Option<String> {
    let call = target.in_call.as_ref()?;
    Some(match call.does {
        CallDoes::Waits => format!("mostly waits in {}", call.function),
        CallDoes::Works | CallDoes::Unseen => format!("mostly inside {}", place(call)),
    })
}

fn place(call: &InCall) -> String {
    match call.function.as_str() {
        KERNEL => "the kernel".into(),
        function => function.into(),
    }
}

/// What the result means for a target that is a call, as sentences; `None` for ordinary code.
pub(crate) fn meaning(target: &Target) -> Option<String> {
    let call = target.in_call.as_ref()?;
    let noun = match target.id.kind {
        TargetKind::Line => "line",
        _ => "function",
    };
    let name = format!("`{}`", call.function.replace('`', "'"));
    let family = Family::of(&call.function);
    let (processor, waiting) = (whole_percent(call.processor), whole_percent(call.waiting));
    Some(match call.does {
        CallDoes::Works if family == Family::Kernel => format!(
            "Most of this {noun}'s time ({processor}) is processor time in the kernel. Making it faster means {}.",
            family.reduction()
        ),
        CallDoes::Works => format!(
            "Most of this {noun}'s time ({processor}) is processor time inside {name}, including the kernel's work for it. \
             Making it faster means {}.",
            family.reduction()
        ),
        CallDoes::Waits => format!(
            "This {noun} mostly waits: {waiting} of its time passes in {name} without a processor. A virtual speedup shortens \
             only its processor time, never a wait: {}",
            advice(family, call)
        ),
        CallDoes::Unseen => format!(
            "Most of this {noun}'s time ({}) passes in {name}, either waiting or in the kernel. Samples leave the kernel out \
             here, so the two can neither be told apart nor sped up: lower kernel.perf_event_paranoid to 1 to see which it is.",
            whole_percent(call.processor + call.waiting)
        ),
    })
}

/// What to do about the waits of a call.
fn advice(family: Family, call: &InCall) -> String {
    match &call.holder {
        Some(holder) => format!(
            "look at who holds the lock; most often it is released at {}.",
            holder.short_label()
        ),
        None => family.advice().to_owned(),
    }
}

/// A percentage without decimals, which such a number does not deserve.
fn whole_percent(part: f64) -> String {
    format!("{:.0}\u{a0}%", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_model::causal::Shape;

    fn target(function: &str, does: CallDoes) -> Target {
        let (processor, waiting) = match does {
            CallDoes::Works => (0.93, 0.01),
            CallDoes::Waits | CallDoes::Unseen => (0.02, 0.954),
        };
        Target {
            id: "a.c:7".parse().expect("a target"),
            slope: 0.2,
            slope_interval: None,
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: Some(InCall {
                function: function.into(),
                processor,
                waiting,
                does,
                holder: None,
            }),
            flags: Vec::new(),
            shape: Shape::Flat,
            points: Vec::new(),
        }
    }

    #[test]
    fn what_a_call_means() {
        for (function, does, expected) in [
            (
                "sendmsg",
                CallDoes::Works,
                [
                    "mostly inside sendmsg",
                    "Most of this line's time (93\u{a0}%) is processor time inside `sendmsg`, including the kernel's work \
                     for it. Making it faster means sending less, or less often.",
                ],
            ),
            (
                "pthread_mutex_lock",
                CallDoes::Waits,
                [
                    "mostly waits in pthread_mutex_lock",
                    "This line mostly waits: 95\u{a0}% of its time passes in `pthread_mutex_lock` without a processor. A \
                     virtual speedup shortens only its processor time, never a wait: look at who holds the lock, and for how \
                     long.",
                ],
            ),
            (
                "pthread_cond_wait",
                CallDoes::Waits,
                [
                    "mostly waits in pthread_cond_wait",
                    "This line mostly waits: 95\u{a0}% of its time passes in `pthread_cond_wait` without a processor. A virtual \
                     speedup shortens only its processor time, never a wait: look at the thread that it waits for.",
                ],
            ),
            (
                KERNEL,
                CallDoes::Works,
                [
                    "mostly inside the kernel",
                    "Most of this line's time (93\u{a0}%) is processor time in the kernel. Making it faster means fewer system \
                     calls, or less memory that is touched for the first time.",
                ],
            ),
            (
                "read",
                CallDoes::Unseen,
                [
                    "mostly inside read",
                    "Most of this line's time (97\u{a0}%) passes in `read`, either waiting or in the kernel. Samples leave \
                     the kernel out here, so the two can neither be told apart nor sped up: lower \
                     kernel.perf_event_paranoid to 1 to see which it is.",
                ],
            ),
        ] {
            let target = target(function, does);
            let said = [remark(&target), meaning(&target)].map(Option::unwrap_or_default);
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_lock_is_told_with_who_holds_it() {
        let mut target = target("pthread_mutex_lock", CallDoes::Waits);
        let call = target.in_call.as_mut().expect("a call");
        call.holder = Some("/w/b.c:31".parse().expect("a target"));
        let said = meaning(&target).unwrap_or_default();
        let end = "look at who holds the lock; most often it is released at b.c:31.";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn ordinary_code_has_no_words_of_its_own() {
        let mut target = target("read", CallDoes::Works);
        target.in_call = None;
        assert_eq!((remark(&target), meaning(&target)), (None, None));
    }

    #[test]
    fn every_function_that_is_told_apart_has_a_family() {
        for function in fulcrum_wire::FUNCTIONS {
            let family = Family::of(function);
            let waits_for_a_thread = ["cond", "cnd", "sem_", "barrier", "join", "futex"];
            let expected = waits_for_a_thread.iter().any(|it| function.contains(it));
            assert_eq!(family == Family::OtherThread, expected, "{function}");
        }
    }
}
