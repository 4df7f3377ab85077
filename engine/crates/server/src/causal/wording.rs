//! Results in words and numbers, the same everywhere in the editor.

use fulcrum_causal::wording::CONTRADICTION;
use fulcrum_causal::{is_small_effect, program_speedup_at};
use fulcrum_model::TargetKind;
use fulcrum_model::causal::{Flag, PointKind, Shape, Target};

use super::call_wording;
use crate::protocol::markdown::code;

/// A signed percentage with a no-break space and a real minus sign: `+4.4 %`, `−12 %`. One decimal below 10 %.
pub(crate) fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let digits = if value.abs() < 9.95 {
        format!("{:.1}", value.abs())
    } else {
        format!("{:.0}", value.abs())
    };
    let sign = match digits.as_str() {
        "0.0" => "",
        _ if value < 0.0 => "\u{2212}",
        _ => "+",
    };
    format!("{sign}{digits}\u{a0}%")
}

/// [`percent`] with one decimal throughout, for columns of numbers.
pub(crate) fn fine_percent(fraction: f64) -> String {
    let digits = format!("{:.1}", fraction.abs() * 100.0);
    let sign = match digits.as_str() {
        "0.0" => "",
        _ if fraction < 0.0 => "\u{2212}",
        _ => "+",
    };
    format!("{sign}{digits}\u{a0}%")
}

/// A number with two decimals and a real minus sign.
fn two_decimals(value: f64) -> String {
    let digits = format!("{:.2}", value.abs());
    let sign = if value < 0.0 && digits != "0.00" {
        "\u{2212}"
    } else {
        ""
    };
    format!("{sign}{digits}")
}

/// A percentage of a line's speedup, which has no sign: `25 %`.
pub(crate) fn plain_percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    if (value - value.round()).abs() < 0.05 {
        format!("{:.0}\u{a0}%", value.round())
    } else {
        format!("{value:.1}\u{a0}%")
    }
}

/// The result of a target in a few words: what the program gains when it takes half the time, and for a call whether it waits.
pub(crate) fn short(target: &Target) -> String {
    let gain = if_halved(target.id.kind, program_speedup_at(target, 0.5));
    let result = match target.shape {
        Shape::Unknown if is_contradictory(target) => CONTRADICTION.into(),
        Shape::Unknown => "not enough data".into(),
        Shape::Flat if is_small_effect(target) => "hardly any effect".into(),
        Shape::Flat => "no effect".into(),
        _ if target.contention => format!("{gain}: contention"),
        _ => gain,
    };
    match call_wording::remark(target) {
        Some(remark) => format!("{result}, {remark}"),
        None => result,
    }
}

fn is_contradictory(target: &Target) -> bool {
    target.flags.contains(&Flag::Contradictory)
}

/// The one number of a target: what the program gains, a fraction, when the target takes half the time.
pub(crate) fn if_halved(kind: TargetKind, gain: f64) -> String {
    let condition = match kind {
        TargetKind::Blocked => "if it waits half as long",
        _ => "if 2× faster",
    };
    format!("{} {condition}", percent(gain))
}

/// [`short`] as it stands beside the code; anything but a line is named.
pub(crate) fn beside_code(target: &Target) -> String {
    let name = &target.id.name;
    match target.id.kind {
        TargetKind::Line => short(target),
        TargetKind::Function | TargetKind::Path | TargetKind::Blocked => {
            format!("{name}: {}", short(target))
        }
        TargetKind::Inclusive => format!("{name} with its callees: {}", short(target)),
    }
}

/// The heading of the speedups that were tried.
pub(crate) fn faster_by(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Line => "Line faster by",
        TargetKind::Function | TargetKind::Inclusive => "Function faster by",
        TargetKind::Path => "Path faster by",
        TargetKind::Blocked => "Wait shorter by",
    }
}

/// The noun for a kind of target.
pub(crate) fn noun(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Line => "line",
        TargetKind::Function | TargetKind::Inclusive => "function",
        TargetKind::Path => "path",
        TargetKind::Blocked => "call",
    }
}

/// A target as the subject of a sentence, and what making it faster is called.
fn subject(target: &Target) -> (String, String) {
    let name = code(&target.id.name);
    match target.id.kind {
        TargetKind::Line => ("this line".into(), "making this line faster".into()),
        TargetKind::Function => (
            format!("{name} itself, without what it calls,"),
            format!("making {name} itself faster"),
        ),
        TargetKind::Inclusive => (
            format!("{name} with everything that it calls"),
            format!("making {name} and what it calls faster"),
        ),
        TargetKind::Path => (
            format!("what {name} leads to"),
            format!("making {name} faster"),
        ),
        TargetKind::Blocked => (
            format!("waiting in {name} here"),
            format!("waiting less in {name} here"),
        ),
    }
}

/// The result of a target in whole sentences; for a call also what it means. `point` is the progress point's name.
pub(crate) fn sentences(target: &Target, point: &str, kind: PointKind) -> String {
    let half = program_speedup_at(target, 0.5);
    let what = match kind {
        PointKind::Throughput => format!("the time between two visits to `{point}`"),
        PointKind::Latency => format!("the latency of `{point}`"),
    };
    let interval = target.slope_interval.map_or_else(String::new, |it| {
        format!(
            " The slope is {} (95\u{a0}% interval {} to {}).",
            two_decimals(target.slope),
            two_decimals(it.low),
            two_decimals(it.high)
        )
    });
    let size = plain_percent(half.abs());
    let (subject, changing) = subject(target);
    let first = match target.shape {
        Shape::Unknown if is_contradictory(target) => {
            format!("It is not established what {changing} does to {what}: {CONTRADICTION}.")
        }
        Shape::Unknown => format!(
            "There is not enough data to tell what {changing} does to {what}. Run longer, or look at the interval."
        ),
        Shape::Flat if is_small_effect(target) => {
            format!("{} hardly changes {what}.", capital(&changing))
        }
        Shape::Flat => format!("{} does not change {what}.", capital(&changing)),
        _ if percent(half) == percent(0.0) => format!(
            "If {subject} took half the time, {what} would hardly change, but other speedups change it: look at the curve."
        ),
        _ if half < 0.0 => {
            format!("If {subject} took half the time, {what} would grow by {size}.")
        }
        _ => format!("If {subject} took half the time, {what} would fall by {size}."),
    };
    let call = call_wording::meaning(target).map(|meaning| format!(" {meaning}"));
    format!("{first}{interval}{}", call.unwrap_or_default())
}

/// Cautions about a result, as sentences.
pub(crate) fn cautions(target: &Target) -> Vec<String> {
    let mut sentences: Vec<String> = target
        .flags
        .iter()
        .map(|&flag| caution(flag).into())
        .collect();
    if let (Shape::Flat | Shape::Unknown, Some(effect)) = (target.shape, target.minimum_effect) {
        sentences.push(format!(
            "A slope above {} would most likely have shown in a run like this one; a smaller one may be hidden.",
            two_decimals(effect)
        ));
    }
    sentences
}

fn caution(flag: Flag) -> &'static str {
    match flag {
        Flag::RunQueue => {
            "Threads waited long for a processor during its experiments, so the effect may be larger than shown: run \
             with fewer other programs."
        }
        Flag::FewVisits => "Its points rest on few visits: run longer.",
        Flag::Shared => {
            "Other code shares its instructions (identical functions folded into one, or a macro), so the effect may \
             be theirs."
        }
        Flag::RegimeChange => {
            "The curve bends or jumps more than noise would: from some speedup on, the program may behave differently."
        }
        Flag::Unstable => {
            "The numbers of requests that began and that ended differ, so this latency does not follow from Little's law."
        }
        Flag::Unsettled => {
            "The pace was still changing during the measurement because queues filled or drained, so the long-run effect may \
             differ. A longer run waits longer before it measures, up to 2 s. A program without a steady pace by then has no \
             long-run effect to measure."
        }
        Flag::CostlyPauses => {
            "Pausing threads costs so much here, or its cost is so uncertain, that it hides the effect of a speedup: run longer, \
             with fewer other programs."
        }
        Flag::Contradictory => {
            "The slope through all points and the curve at half the time disagree, so neither is established: run longer, on a \
             quieter machine."
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// What contention means, for a target that has it.
pub(crate) const CONTENTION: &str = "**Contention:** the program gets slower when this gets faster. Faster arrivals at \
    a lock, a cache line or another shared resource make everyone wait longer there. Look at what this code \
    competes for; do not optimise the code itself.";

#[cfg(test)]
mod tests {
    use super::*;

    fn target(id: &str, shape: Shape) -> Target {
        let point = |speedup: f64| fulcrum_model::causal::Point {
            speedup,
            program_speedup: speedup / 5.0,
            interval: None,
            measured: None,
            visits: 9,
            duration_ns: 9,
        };
        Target {
            id: id.parse().expect("a target"),
            slope: 0.2,
            slope_interval: None,
            contention: false,
            experiments: 9,
            minimum_effect: Some(0.03),
            in_call: None,
            flags: Vec::new(),
            shape,
            points: vec![point(0.0), point(1.0)],
        }
    }

    #[test]
    fn each_kind_of_target_in_words() {
        for (id, expect) in [
            (
                "a.c:7",
                [
                    "+10\u{a0}% if 2× faster",
                    "If this line took half the time, the latency of `q` would fall by 10\u{a0}%.",
                    "Making this line faster does not change the latency of `q`.",
                ],
            ),
            (
                "function:f@a.c:7",
                [
                    "f: +10\u{a0}% if 2× faster",
                    "If `f` itself, without what it calls, took half the time, the latency of `q` would fall by 10\u{a0}%.",
                    "Making `f` itself faster does not change the latency of `q`.",
                ],
            ),
            (
                "inclusive:f@a.c:7",
                [
                    "f with its callees: +10\u{a0}% if 2× faster",
                    "If `f` with everything that it calls took half the time, the latency of `q` would fall by 10\u{a0}%.",
                    "Making `f` and what it calls faster does not change the latency of `q`.",
                ],
            ),
            (
                "path:g > f@a.c:7",
                [
                    "g > f: +10\u{a0}% if 2× faster",
                    "If what `g > f` leads to took half the time, the latency of `q` would fall by 10\u{a0}%.",
                    "Making `g > f` faster does not change the latency of `q`.",
                ],
            ),
            (
                "blocked:read@a.c:7",
                [
                    "read: +10\u{a0}% if it waits half as long",
                    "If waiting in `read` here took half the time, the latency of `q` would fall by 10\u{a0}%.",
                    "Waiting less in `read` here does not change the latency of `q`.",
                ],
            ),
        ] {
            let gain = target(id, Shape::Gain2);
            let flat = target(id, Shape::Flat);
            let said = [
                beside_code(&gain),
                sentences(&gain, "q", PointKind::Latency),
                sentences(&flat, "q", PointKind::Latency),
            ];
            assert_eq!(said, expect);
        }
    }

    /// A target of this shape with the slope and its interval, and one point at half the time.
    fn measured(shape: Shape, slope: f64, half_width: f64, half: f64) -> Target {
        let mut measured = target("a.c:7", shape);
        measured.slope = slope;
        measured.slope_interval = Some(fulcrum_model::Interval::around(slope, half_width));
        measured.points.truncate(1);
        measured.points.push(fulcrum_model::causal::Point {
            speedup: 0.5,
            program_speedup: half,
            ..measured.points[0]
        });
        measured
    }

    #[test]
    fn the_words_agree_with_the_mark_and_the_number() {
        let mut hollow = measured(Shape::Unknown, 0.046, 0.042, -0.029);
        hollow.flags = vec![Flag::Contradictory];
        for (target, beside, sentence) in [
            (
                hollow,
                "the slope and the curve disagree; run it longer",
                "It is not established what making this line faster does to the latency of `q`: the slope and the curve \
                 disagree; run it longer.",
            ),
            (
                measured(Shape::Unknown, 0.046, 0.2, 0.029),
                "not enough data",
                "There is not enough data to tell what making this line faster does to the latency of `q`. Run longer, or \
                 look at the interval.",
            ),
            (
                measured(Shape::Flat, -0.023, 0.014, -0.011),
                "hardly any effect",
                "Making this line faster hardly changes the latency of `q`.",
            ),
            (
                measured(Shape::Flat, -0.014, 0.019, 0.009),
                "no effect",
                "Making this line faster does not change the latency of `q`.",
            ),
            (
                measured(Shape::Harm1, -0.031, 0.014, -0.022),
                "\u{2212}2.2\u{a0}% if 2× faster",
                "If this line took half the time, the latency of `q` would grow by 2.2\u{a0}%.",
            ),
            (
                measured(Shape::Harm1, -0.031, 0.014, 0.0002),
                "0.0\u{a0}% if 2× faster",
                "If this line took half the time, the latency of `q` would hardly change, but other speedups change it: look \
                 at the curve.",
            ),
        ] {
            assert_eq!(short(&target), beside);
            let said = sentences(&target, "q", PointKind::Latency);
            assert!(said.starts_with(sentence), "{said}");
        }
    }

    #[test]
    fn what_a_line_does_that_is_a_call_stands_behind_its_result() {
        let mut wait = target("a.c:7", Shape::Flat);
        wait.in_call = Some(fulcrum_model::causal::InCall {
            function: "pthread_mutex_lock".into(),
            processor: 0.02,
            waiting: 0.9,
            does: fulcrum_model::causal::CallDoes::Waits,
            holder: None,
        });
        let expected = "no effect, mostly waits in pthread_mutex_lock";
        assert_eq!(beside_code(&wait), expected);
        let sentences = sentences(&wait, "q", PointKind::Throughput);
        let start = "Making this line faster does not change the time between two visits to `q`. This line mostly waits: ";
        assert!(sentences.starts_with(start), "{sentences}");
    }

    #[test]
    fn cautions_are_for_results_that_need_them() {
        let mut gain = target("a.c:7", Shape::Gain2);
        assert!(cautions(&gain).is_empty());
        gain.flags = vec![Flag::FewVisits];
        assert_eq!(
            cautions(&gain),
            ["Its points rest on few visits: run longer."]
        );
        let flat = cautions(&target("a.c:7", Shape::Flat));
        assert_eq!(
            flat,
            [
                "A slope above 0.03 would most likely have shown in a run like this one; a smaller one may be hidden."
            ]
        );
    }

    #[test]
    fn percentages() {
        for (fraction, expect) in [
            (0.044, "+4.4\u{a0}%"),
            (0.12, "+12\u{a0}%"),
            (0.0995, "+10\u{a0}%"),
            (0.0994, "+9.9\u{a0}%"),
            (-0.08, "\u{2212}8.0\u{a0}%"),
            (-1.0, "\u{2212}100\u{a0}%"),
            (0.0, "0.0\u{a0}%"),
            (-0.0004, "0.0\u{a0}%"),
        ] {
            assert_eq!(percent(fraction), expect, "{fraction}");
        }
        assert_eq!(fine_percent(-0.1234), "\u{2212}12.3\u{a0}%");
        assert_eq!(fine_percent(-0.0004), "0.0\u{a0}%");
        assert_eq!(two_decimals(-0.234), "\u{2212}0.23");
        assert_eq!(two_decimals(-0.001), "0.00");
        assert_eq!(plain_percent(0.25), "25\u{a0}%");
        assert_eq!(plain_percent(0.125), "12.5\u{a0}%");
    }
}
