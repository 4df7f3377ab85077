//! Chrome's trace events: a CPU profile when there is one, else samples, else spans of time (`B`/`E`/`X`).
//!
//! Libraries: serde_json parses. We found no crate that reads traces, only ones that write them, such as tracing-chrome.

mod common;
mod events;
mod samples;
mod spans;

use std::collections::BTreeMap;

use serde::Deserialize;

use self::common::{Key, id_text, label, moment, nanoseconds};
use self::events::{Event, Sink};
use self::samples::{Sample, Samples, StackFrame};
use self::spans::Spans;
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::Stacks;
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::input::{Input, json_fault};
use crate::decode::json::Step;
use crate::formats::v8::{self, CpuProfile};

/// Detects an array of events, or an object with one.
pub(crate) fn detect(input: &Input) -> bool {
    let array = input.json.as_ref().filter(|json| json.array);
    let is_events = array.is_some_and(|json| json.keys.iter().any(|key| key == "ph"));
    is_events || input.has_keys(&["traceEvents"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut trace = Trace::default();
    let is_array = input.json.as_ref().is_some_and(|json| json.array);
    let read = events::read(input.text(), &mut trace);
    let cut = match read {
        Ok(()) => false,
        // The format allows an array without an end: programs die while they write.
        Err(error) if error.is_eof() && is_array && trace.seen > 0 => true,
        Err(error) => return Err(json_fault(&error)),
    };
    let mut profile = if !trace.profiles.is_empty() {
        trace.cpu_profiles().map_err(|fault| match is_array {
            true => fault,
            false => fault.at_key("traceEvents"),
        })?
    } else if !trace.samples.is_empty() {
        trace.samples()?
    } else {
        trace.spans()?
    };
    if cut {
        profile.note("The trace is cut short.");
    }
    Ok(profile)
}

#[derive(Default)]
struct Trace {
    /// How many events were read.
    seen: u64,
    /// Spans that belong to no thread.
    asynchronous: u64,
    threads: BTreeMap<Key, Spans>,
    names: BTreeMap<Key, String>,
    /// By process and id.
    profiles: BTreeMap<Key, ProfileParts>,
    /// The thread of each profile.
    profiled: BTreeMap<Key, Key>,
    samples: Samples,
}

/// One profile, joined from the parts in several events.
#[derive(Default)]
struct ProfileParts {
    /// The number of its first event.
    first: u64,
    profile: CpuProfile,
    /// Start and end from the events, and from the profiles inside them. The clocks may differ.
    outer: [Option<f64>; 2],
    inner: [Option<f64>; 2],
}

/// The part of a profile that one event carries.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Chunk {
    cpu_profile: CpuProfile,
    time_deltas: Option<Vec<f64>>,
    start_time: Option<f64>,
    end_time: Option<f64>,
}

impl Sink for Trace {
    fn event(&mut self, event: &Event) -> Result<(), String> {
        self.seen += 1;
        let key = (id_text(&event.pid), id_text(&event.tid));
        match &*event.ph {
            "B" | "E" | "X" => {
                let at = moment(event.ts)?;
                let spans = self.threads.entry(key).or_default();
                match &*event.ph {
                    "B" => spans.begin(at, &event.name),
                    "E" => spans.end(at, &event.name),
                    _ => {
                        let duration = nanoseconds(event.dur.or(event.tdur).unwrap_or(0.0))?;
                        spans.complete(at, duration, &event.name)?;
                    }
                }
                Ok(())
            }
            "P" | "I" if ["Profile", "ProfileChunk", "CpuProfile"].contains(&&*event.name) => {
                let id = match &*event.name {
                    // A complete profile without an id.
                    "CpuProfile" => format!("{} {}", id_text(&event.id), self.seen),
                    _ => id_text(&event.id),
                };
                let id = (key.0.clone(), id);
                if event.name != "ProfileChunk" {
                    self.profiled.insert(id.clone(), key);
                }
                if let Some(data) = event.args.get("data") {
                    let chunk = Chunk::deserialize(data);
                    let chunk = chunk.map_err(|error| error.to_string())?;
                    let first = self.seen - 1;
                    let parts = self.profiles.entry(id).or_insert_with(|| ProfileParts {
                        first,
                        ..ProfileParts::default()
                    });
                    parts.add(chunk);
                }
                Ok(())
            }
            "M" if event.name == "thread_name" => {
                if let Some(name) = event.args["name"].as_str() {
                    self.names.insert(key, name.to_owned());
                }
                Ok(())
            }
            "b" | "S" => {
                self.asynchronous += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sample(&mut self, sample: &Sample) -> Result<(), String> {
        self.samples.add(sample)
    }

    fn frame(&mut self, id: String, frame: StackFrame) {
        self.samples.frame(id, frame);
    }
}

impl Trace {
    fn samples(self) -> Result<Collected, Fault> {
        let mut stacks = self.samples.into_stacks(&self.names)?;
        if !self.threads.is_empty() {
            stacks.note("The trace holds samples; its other events are not shown.");
        }
        stacks.finish(Format::ChromeTrace)
    }

    fn cpu_profiles(self) -> Result<Collected, Fault> {
        let mut stacks = Stacks::new(v8::values(), 1)?;
        let (all, mut left_out) = (self.profiles.len(), Vec::new());
        let several = all > 1;
        for (id, parts) in self.profiles {
            let first = parts.first;
            // The parts come from several events; the first is the place.
            let place = |fault| Fault {
                path: vec![Step::Item(first as usize)],
                ..fault
            };
            let (profile, notes) = parts.finish();
            // A damaged profile is left out, and the others are read.
            if several {
                let mut alone = Stacks::new(v8::values(), 1)?;
                if let Err(fault) = profile.add(None, &mut alone) {
                    left_out.push(place(fault));
                    continue;
                }
            }
            let thread = self.profiled.get(&id).unwrap_or(&id);
            let container = match several {
                true => Some(stacks.container(&label(thread, &self.names))?),
                false => None,
            };
            profile.add(container, &mut stacks).map_err(place)?;
            notes.into_iter().for_each(|note| stacks.note(note));
        }
        let missing = left_out.len();
        if let Some(fault) = left_out.into_iter().next() {
            if missing == all {
                return Err(fault);
            }
            let problem = fault.problem;
            stacks.note(format!(
                "{missing} of {all} CPU profiles in the trace cannot be read and are left out: {problem}."
            ));
        }
        if !self.threads.is_empty() {
            stacks.note("The trace holds CPU profiles; its other events are not shown.");
        }
        stacks.finish(Format::ChromeTrace)
    }

    fn spans(self) -> Result<Collected, Fault> {
        let mut stacks = Stacks::new(vec![value("time", "ns"), value("calls", "count")], 0)?;
        if self.threads.is_empty() {
            return Err(match self.asynchronous {
                0 => Fault::whole("the trace has no spans (events B, E or X) and no CPU profile"),
                spans => Fault::whole(format!(
                    "the trace has no spans of threads (events B, E or X) and no CPU profile; {spans} asynchronous \
                     spans have no call stacks"
                )),
            });
        }
        if self.asynchronous > 0 {
            stacks.note(format!(
                "{} asynchronous spans are left out: they belong to no thread and have no call stacks.",
                self.asynchronous
            ));
        }
        let several = self.threads.len() > 1;
        let mut odd = 0;
        for (thread, spans) in self.threads {
            let container = match several {
                true => Some(stacks.container(&label(&thread, &self.names))?),
                false => None,
            };
            odd += spans.add_to(container, &mut stacks)?;
        }
        if odd > 0 {
            stacks.note(format!(
                "{odd} events have no beginning, no end, or overlap others without being inside them."
            ));
        }
        stacks.finish(Format::ChromeTrace)
    }
}

impl ProfileParts {
    /// Adds the part of one more event.
    fn add(&mut self, chunk: Chunk) {
        let (part, profile) = (chunk.cpu_profile, &mut self.profile);
        profile.nodes.extend(part.nodes);
        let samples = part.samples.unwrap_or_default();
        profile.samples.get_or_insert_default().extend(samples);
        let deltas = chunk.time_deltas.or(part.time_deltas).unwrap_or_default();
        profile.time_deltas.get_or_insert_default().extend(deltas);
        for (times, [start, end]) in [
            (&mut self.outer, [chunk.start_time, chunk.end_time]),
            (&mut self.inner, [part.start_time, part.end_time]),
        ] {
            *times = [times[0].or(start), end.or(times[1])];
        }
    }

    /// The profile and its notes.
    fn finish(self) -> (CpuProfile, Vec<String>) {
        let (mut profile, mut notes) = (self.profile, Vec::new());
        let deltas: &[f64] = profile.time_deltas.get_or_insert_default();
        let lasted: f64 = deltas.iter().sum();
        profile.samples.get_or_insert_default();
        // Both times must come from the same clock.
        let times = [self.outer, self.inner].into_iter();
        let mut times = times.filter_map(|[start, end]| Some([start?, end?]));
        if let Some([start, end]) = times.next() {
            if end - start - lasted > lasted.max(0.0) {
                notes.push(format!(
                    "A CPU profile is said to end {:.1} s after its last sample, which is longer than all its samples \
                     took: the last one is given no time.",
                    (end - start - lasted) / 1e6
                ));
            } else {
                (profile.start_time, profile.end_time) = (Some(start), Some(end));
            }
        }
        if !profile.nodes.is_empty()
            && let (nodes, samples) = profile.repair()
            && nodes + samples > 0
        {
            notes.push(format!(
                "Parts of a CPU profile are missing: {nodes} nodes and {samples} samples name nodes that are not in the \
                 trace, and stand below [truncated]."
            ));
        }
        (profile, notes)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    #[test]
    fn times_may_be_below_zero() {
        // As Bazel writes its launch.
        check(
            r#"{"traceEvents":[
              {"ph":"X","name":"launch","pid":1,"tid":2,"ts":-613000,"dur":613000},
              {"ph":"X","name":"build","pid":1,"tid":2,"ts":-1,"dur":1},
              {"ph":"B","name":"run","pid":1,"tid":2,"ts":-0.5},
              {"ph":"E","pid":1,"tid":2,"ts":0}
            ]}"#,
            "time ns* 613000000
             calls 3
             launch 612999000 1
             launch;build 500 1
             launch;build;run 500 1",
        );
        let far = |ts: &str| format!(r#"{{"traceEvents":[{{"ph":"B","name":"a","ts":{ts}}}]}}"#);
        for (ts, problem) in [
            (
                "-5e15",
                "the JSON is wrong at column 48: the event \"a\": the time -5000000000000000 is too large",
            ),
            (
                "5e15",
                "the JSON is wrong at column 47: the event \"a\": the time 5000000000000000 is too large",
            ),
        ] {
            check_fault(far(ts), 1, problem);
        }
    }

    #[test]
    fn spans_nest_by_time() {
        // Chrome writes a whole span when it ends, so inner ones come first.
        check(
            r#"{"traceEvents":[
              {"ph":"X","name":"inner","pid":1,"tid":2,"ts":2,"dur":3},
              {"ph":"X","name":"outer","pid":1,"tid":2,"ts":0,"dur":10.5},
              {"ph":"B","name":"next","pid":1,"tid":2,"ts":20},
              {"ph":"B","name":"leaf","pid":1,"tid":2,"ts":21},
              {"ph":"E","pid":1,"tid":2,"ts":22},
              {"ph":"E","name":"next","pid":1,"tid":2,"ts":24},
              {"ph":"i","name":"instant","ts":24}]}"#,
            "time ns* 14500
             calls 4
             next 3000 1
             next;leaf 1000 1
             outer 7500 1
             outer;inner 3000 1",
        );
    }

    #[test]
    fn what_takes_no_time_may_end_before_it_begins() {
        check(
            r#"[{"ph":"B","name":"a","pid":1,"tid":2,"ts":0},
              {"ph":"E","name":"c","pid":1,"tid":2,"ts":2},
              {"ph":"B","name":"c","pid":1,"tid":2,"ts":2},
              {"ph":"E","name":"a","pid":1,"tid":2,"ts":10}]"#,
            "time ns* 10000
             calls 2
             a 10000 1
             a;c 0 1",
        );
        // At another time it is another one.
        check(
            r#"[{"ph":"B","name":"a","pid":1,"tid":2,"ts":0},
              {"ph":"E","name":"c","pid":1,"tid":2,"ts":2},
              {"ph":"B","name":"c","pid":1,"tid":2,"ts":3},
              {"ph":"E","name":"a","pid":1,"tid":2,"ts":10}]"#,
            "time ns* 10000
             calls 2
             a 3000 1
             a;c 7000 1
             note: 2 events have no beginning, no end, or overlap others without being inside them.",
        );
    }

    #[test]
    fn what_never_ends_goes_on_to_the_end_of_its_thread() {
        check(
            r#"[{"ph":"B","name":"a","pid":1,"tid":2,"ts":0},
              {"ph":"X","name":"b","pid":1,"tid":2,"ts":10,"dur":1}]"#,
            "time ns* 11000
             calls 2
             a 10000 1
             a;b 1000 1
             note: 1 events have no beginning, no end, or overlap others without being inside them.",
        );
    }

    #[test]
    fn deep_spans_take_no_more_than_their_file() {
        const SPANS: usize = 6000;
        let span = |n: usize| {
            let (from, took) = (n, 2 * (SPANS - n));
            format!("{{\"ph\":\"X\",\"name\":\"f{n}\",\"ts\":{from},\"dur\":{took}}}")
        };
        let spans: Vec<_> = (0..SPANS).map(span).collect();
        let text = format!("[{}]", spans.join(","));
        let profile = crate::read(text.as_bytes(), "x").expect("a trace");
        let crate::Calls::Tree(tree) = profile.calls else {
            panic!("expected a tree");
        };
        assert_eq!(tree.total(0), 2 * SPANS as i64 * 1000);
        // The calls themselves, and a few of the callers of those that are too deep.
        assert!(tree.len() < SPANS as u32 * 70, "{}", tree.len());
        let note =
            "1904 stacks have more than 4096 frames; their innermost ones are under [truncated].";
        assert_eq!(profile.notes, [note]);
    }

    #[test]
    fn threads_stand_apart_and_a_trace_may_be_cut() {
        check(
            r#"[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
            {"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":1},
            {"ph":"B","name":"g","pid":1,"tid":2,"ts":0},
            {"ph":"E","name":"h","pid":1,"tid":2,"ts":5},
            {"ph":"X","name":"#,
            "time ns* 6000
             calls 2
             {main (1/1)} 0 0
             {main (1/1)};f 1000 1
             {thread 1/2} 0 0
             {thread 1/2};g 5000 1
             note: 2 events have no beginning, no end, or overlap others without being inside them.
             note: The trace is cut short.",
        );
    }

    #[test]
    fn chunks_of_a_cpu_profile_are_joined() {
        check(
            r#"[{"args":{"data":{"startTime":100}},"id":"0x1","name":"Profile","ph":"P","pid":1,"tid":7,"ts":1},
            {"args":{"data":{"cpuProfile":{"nodes":[{"callFrame":{"functionName":"(root)"},"id":1},
              {"callFrame":{"functionName":"f"},"id":2,"parent":1}],"samples":[1,2]},"timeDeltas":[5,10]}},
              "id":"0x1","name":"ProfileChunk","ph":"P","pid":1,"tid":9,"ts":2},
            {"args":{"data":{"cpuProfile":{"nodes":[{"callFrame":{"functionName":"g"},"id":3,"parent":2}],
              "samples":[3]},"timeDeltas":[20],"endTime":140}},"id":"0x1","name":"ProfileChunk","ph":"P","pid":1,"tid":9,"ts":3},
            {"ph":"X","name":"task","pid":1,"tid":7,"ts":0,"dur":1}]"#,
            "samples 3
             time ns* 35000
             (root) 1 10000
             (root);f 1 20000
             (root);f;g 1 5000
             note: The trace holds CPU profiles; its other events are not shown.",
        );
    }

    /// A node of a profile in a trace.
    fn node(id: u32, name: &str, parent: u32) -> String {
        let parent = match parent {
            0 => String::new(),
            parent => format!(",\"parent\":{parent}"),
        };
        format!("{{\"callFrame\":{{\"functionName\":\"{name}\"}},\"id\":{id}{parent}}}")
    }

    /// An event of a profile in a trace.
    fn event(name: &str, (id, tid): (&str, u32), data: &str) -> String {
        format!(
            "{{\"ph\":\"P\",\"name\":\"{name}\",\"id\":\"{id}\",\"pid\":1,\"tid\":{tid},\"ts\":1,\"args\":{{\"data\":{{{data}}}}}}}"
        )
    }

    #[test]
    fn a_profile_ends_by_the_clock_by_which_it_began() {
        let part = |times: &str| {
            let nodes = [node(1, "f", 0), node(2, "g", 1)].join(",");
            format!(
                "\"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[1,2]{times}}},\"timeDeltas\":[5,10]"
            )
        };
        let trace = |start: &str, times: &str| {
            let begin = event("Profile", ("0x1", 7), start);
            let chunk = event("ProfileChunk", ("0x1", 9), &part(times));
            format!("[{begin},{chunk}]")
        };
        check(
            trace(
                "\"startTime\":0",
                ",\"startTime\":470030000000,\"endTime\":470030000018",
            ),
            "samples 2
             time ns* 13000
             f 1 10000
             f;g 1 3000",
        );
        let far = event(
            "ProfileChunk",
            ("0x1", 9),
            "\"timeDeltas\":[],\"endTime\":470030000018",
        );
        check(
            format!(
                "[{},{},{far}]",
                event("Profile", ("0x1", 7), "\"startTime\":0"),
                event("ProfileChunk", ("0x1", 9), &part(""))
            ),
            "samples 2
             time ns* 10000
             f 1 10000
             f;g 1 0
             note: A CPU profile is said to end 470030.0 s after its last sample, which is longer than all its samples took: the last one is given no time.",
        );
    }

    #[test]
    fn profiles_of_two_threads_stand_apart() {
        let whole = |name: &str, tid: u32| {
            let nodes = node(1, name, 0);
            let data = format!(
                "\"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[1,1],\"timeDeltas\":[1,2]}}"
            );
            event("CpuProfile", ("", tid), &data)
        };
        check(
            format!("[{},{}]", whole("f", 7), whole("g", 8)),
            "samples 4
             time ns* 4000
             {thread 1/7} 0 0
             {thread 1/7};f 2 2000
             {thread 1/8} 0 0
             {thread 1/8};g 2 2000",
        );
    }

    #[test]
    fn children_that_are_not_there_spoil_nothing() {
        let root = node(1, "f", 0).replace("\"id\":1", "\"id\":1,\"children\":[2,116]");
        let nodes = [root, node(2, "g", 0)].join(",");
        let data = format!(
            "\"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[1,2],\"timeDeltas\":[1,2]}}"
        );
        check(
            format!("[{}]", event("CpuProfile", ("", 7), &data)),
            "samples 2
             time ns* 2000
             f 1 2000
             f;g 1 0",
        );
    }

    #[test]
    fn what_is_whole_is_read_beside_what_is_not() {
        let chunk = |id: &str, nodes: &str, samples: &str, deltas: &str| {
            let data = format!(
                "\"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[{samples}]}},\"timeDeltas\":[{deltas}]"
            );
            event("ProfileChunk", (id, 9), &data)
        };
        let begin = event("Profile", ("0x2", 7), "");
        let whole = chunk("0x2", &node(1, "f", 0), "1,1", "1,2");
        // Of an earlier profile only the end is there.
        let left_over = chunk("0x1", &node(8, "late", 5), "8,5", "1,3");
        check(
            format!("[{left_over},{begin},{whole}]"),
            "samples 4
             time ns* 5000
             {thread 1/0x1} 0 0
             {thread 1/0x1};[truncated] 1 0
             {thread 1/0x1};[truncated];late 1 3000
             {thread 1/7} 0 0
             {thread 1/7};f 2 2000
             note: Parts of a CPU profile are missing: 1 nodes and 1 samples name nodes that are not in the trace, and stand below [truncated].",
        );
        // Nothing that can be read.
        let wrong = chunk("0x1", "", "8", "1");
        check(
            format!("[{wrong},{begin},{whole}]"),
            "samples 2
             time ns* 2000
             {thread 1/7} 0 0
             {thread 1/7};f 2 2000
             note: 1 of 2 CPU profiles in the trace cannot be read and are left out: a sample names node 8, which the file does not have.",
        );
    }

    /// A trace as Hermes writes it: numbers are texts, and samples share the frames of their stacks.
    fn hermes(samples: &[(&str, &str, &str)], frames: &str) -> String {
        let thread = |tid: &str, name: &str| {
            format!(
                r#"{{"name":"thread_name","ph":"M","cat":"__metadata","pid":7,"ts":"9","tid":"{tid}","args":{{"name":"{name}"}}}}"#
            )
        };
        let samples = samples.iter().map(|(tid, ts, frame)| {
            format!(
                r#"{{"cpu":"-1","name":"","ts":"{ts}","pid":7,"tid":"{tid}","weight":"1","sf":{frame}}}"#
            )
        });
        format!(
            "{{\"traceEvents\":[{},{}],\n\"samples\":[{}],\n\"stackFrames\":{{{frames}}}}}",
            thread("1", "js"),
            thread("2", "native"),
            samples.collect::<Vec<_>>().join(",\n")
        )
    }

    const FRAMES: &str = r#""1":{"name":"[root]","category":"root"},"2":{"name":"f","line":"3","parent":1},"3":{"name":"g","parent":2}"#;

    #[test]
    fn samples_share_the_frames_of_their_stacks() {
        // The last sample of a thread has no time.
        let samples = [
            ("1", "1000", "2"),
            ("1", "1500", "3"),
            ("1", "1700", "3"),
            ("1", "1701", "1"),
        ];
        check(
            hermes(&samples, FRAMES),
            "samples 4
             time ns* 701000
             [root] 1 0
             [root];f 1 500000
             [root];f;g 2 201000",
        );
        let samples = [("1", "10", "2"), ("2", "12", "2"), ("1", "15", "1")];
        check(
            hermes(&samples, FRAMES).replace("\"weight\":\"1\"", "\"weight\":2.5"),
            "samples 3
             time ns* 5000
             weight 0.1 count 75
             {js (7/1)} 0 0 0
             {js (7/1)};[root] 1 0 25
             {js (7/1)};[root];f 1 5000 25
             {native (7/2)} 0 0 0
             {native (7/2)};[root] 0 0 0
             {native (7/2)};[root];f 1 0 25",
        );
    }

    #[test]
    fn frames_that_are_lost_lose_no_sample() {
        let frames = FRAMES.replace("\"parent\":1", "\"parent\":8");
        check(
            hermes(&[("1", "10", "3"), ("1", "15", "9")], &frames),
            "samples 2
             time ns* 5000
             [truncated] 1 0
             [truncated];f 0 0
             [truncated];f;g 1 5000
             note: 2 samples and callers name stack frames that are not in the trace, and stand below [truncated].",
        );
        let cycle = FRAMES.replace("\"category\":\"root\"", "\"parent\":3");
        check_fault(
            hermes(&[("1", "10", "3")], &cycle),
            3,
            "node 0 is its own ancestor",
        );
        check_fault(
            hermes(&[("1", "soon", "3")], FRAMES),
            2,
            "the JSON is wrong at column 44: expected a text that is a number",
        );
        check_fault(
            hermes(&[("1", "1", "3")], FRAMES).replace("\"ts\":\"1\",", ""),
            2,
            "the JSON is wrong at column 72: a sample: expected an event to have a time",
        );
    }

    #[test]
    fn spans_may_have_their_numbers_as_texts() {
        check(
            r#"[{"ph":"X","name":"f","pid":"1","tid":1,"ts":"2","dur":"3.5"}]"#,
            "time ns* 3500
             calls 1
             f 3500 1",
        );
        // Some have processor time only.
        check(
            r#"[{"ph":"X","name":"f","ts":2,"tdur":4},{"ph":"X","name":"g","ts":9,"dur":1,"tdur":0.5}]"#,
            "time ns* 5000
             calls 2
             f 4000 1
             g 1000 1",
        );
    }

    #[test]
    fn spans_of_no_thread_have_no_stacks() {
        let spans = r#"{"ph":"b","cat":"net","id":1,"name":"get","ts":1},{"ph":"e","cat":"net","id":1,"name":"get","ts":9}"#;
        check(
            format!(r#"[{spans},{{"ph":"X","name":null,"ts":0,"dur":2}}]"#),
            "time ns* 2000
             calls 1
             [unknown] 2000 1
             note: 1 asynchronous spans are left out: they belong to no thread and have no call stacks.",
        );
        check_fault(
            format!("[{spans}]"),
            0,
            "the trace has no spans of threads (events B, E or X) and no CPU profile; 1 asynchronous spans have no call stacks",
        );
        check_fault(
            r#"{"traceEvents":[]}"#,
            0,
            "the trace has no spans (events B, E or X) and no CPU profile",
        );
    }

    #[test]
    fn wrong_events_are_errors_at_their_lines() {
        check_fault(
            "[{\"ph\":\"B\",\"name\":\"f\"},\n{\"ph\":\"B\",\"name\":\"f\",\"ts\":-5}]",
            1,
            "the JSON is wrong at column 22: the event \"f\": expected an event to have a time",
        );
        check_fault(
            "[{\"ph\":\"i\"},\n{\"ph\":\"P\",\"name\":\"Profile\",\"id\":1,\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[7]},\"timeDeltas\":[1]}}}]",
            2,
            "a sample names node 7, which the file does not have",
        );
        check_fault(
            "{\"traceEvents\":[{\"ph\":\"B\",\"name\":\"f\",\"ts\":1}",
            1,
            "the JSON ends too early",
        );
    }
}
