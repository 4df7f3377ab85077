//! The records of a causal run, one JSON object a line (`docs/formats.md`), written without allocation.
//!
//! By hand: `serde_json` allocates, and `serde-json-core`, which does not, cannot insert the map's names, which are escaped
//! already.

use core::fmt::{self, Write};

use fulcrum_wire::FULL_WEIGHT;
use fulcrum_wire::causal::{EXPERIMENT, POINT, TYPE, count, kind};

use crate::draw::Treatment;

/// Text in a fixed piece of memory. If any of it does not fit, [`Text::finish`] returns nothing.
pub struct Text<'a> {
    bytes: &'a mut [u8],
    length: usize,
    overflown: bool,
}

impl<'a> Text<'a> {
    /// Starts empty.
    pub fn new(bytes: &'a mut [u8]) -> Text<'a> {
        Text {
            bytes,
            length: 0,
            overflown: false,
        }
    }

    /// The text, or `None` when it did not fit.
    pub fn finish(self) -> Option<&'a [u8]> {
        if self.overflown {
            None
        } else {
            Some(&self.bytes[..self.length])
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        match self.bytes.get_mut(self.length..self.length + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.overflown = true,
        }
    }

    /// A JSON string, quotes included. Bytes that are not UTF-8 become `?`: names come from other people's programs.
    pub fn string(&mut self, bytes: &[u8]) {
        self.raw(b"\"");
        for chunk in bytes.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                match byte {
                    b'"' => self.raw(b"\\\""),
                    b'\\' => self.raw(b"\\\\"),
                    0..0x20 => {
                        let hex = b"0123456789abcdef";
                        self.raw(b"\\u00");
                        self.raw(&[hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]]);
                    }
                    _ => self.raw(&[byte]),
                }
            }
            if !chunk.invalid().is_empty() {
                self.raw(b"?");
            }
        }
        self.raw(b"\"");
    }

    /// Bytes that are JSON already.
    pub fn json(&mut self, bytes: &[u8]) {
        self.raw(bytes);
    }

    /// Begins a record of this kind.
    pub fn begin(&mut self, kind: &str) {
        let _ = write!(self, "{{\"{TYPE}\":\"{kind}\"");
    }

    /// Another key of an object that has one already; its value is written next.
    pub fn key(&mut self, key: &str) {
        let _ = write!(self, ",\"{key}\":");
    }

    /// Another key with a value that is JSON.
    pub fn field(&mut self, key: &str, value: impl fmt::Display) {
        let _ = write!(self, ",\"{key}\":{value}");
    }

    /// Another key with a value that becomes a string; it needs no escapes.
    pub fn word(&mut self, key: &str, value: impl fmt::Display) {
        let _ = write!(self, ",\"{key}\":\"{value}\"");
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.raw(text.as_bytes());
        Ok(())
    }
}

/// A speedup in ten-thousandths as a JSON number: 2500 is `0.25`.
pub struct Fraction(pub u32);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 10_000.0)
    }
}

/// What one progress point counted during an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// Its name, as the program gave it.
    pub name: &'a [u8],
    /// How it counts.
    pub count: Count,
    /// Visits in the first half of the experiment; departures for latency.
    pub half: Option<u64>,
}

/// The two kinds of progress point (COZ §3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// Visits.
    Throughput(u64),
    /// Visits to begin and end, and requests in progress at the experiment's start and end.
    Latency {
        /// Visits to the begin point.
        arrivals: u64,
        /// Visits to the end point.
        departures: u64,
        /// Begun less ended when the experiment started.
        pending_before: i64,
        /// Begun less ended when it stopped.
        pending_after: i64,
        /// Begun less ended, averaged over the experiment: `L` of Little's law.
        mean: f64,
    },
}

/// One finished experiment.
pub struct Experiment {
    /// What was done to the target.
    pub treatment: Treatment,
    /// From the header's time, nanoseconds.
    pub start_ns: u64,
    /// Real duration, nanoseconds.
    pub wall_ns: u64,
    /// Delay inserted meanwhile, nanoseconds.
    pub delay_ns: u64,
    /// How often all threads together paused meanwhile.
    pub pauses: u64,
    /// Samples in the selected line.
    pub selected_samples: u64,
    /// CPU time that other programs took meanwhile, nanoseconds; `None` where the system does not say.
    pub others_ns: Option<u64>,
    /// Time that all threads of the program together spent in run queues, nanoseconds; `None` when it was not measured.
    pub queued_ns: Option<u64>,
    /// For how long at least the treatment had been in force, nanoseconds; 0 if since the program's start.
    pub warmup_ns: u64,
    /// Effective duration of the first half, nanoseconds; `None` when the experiment was cut short.
    pub half_ns: Option<i64>,
    /// The probability with which a sample of the target was accepted as the choice, of [`FULL_WEIGHT`].
    pub weight: u32,
}

/// Writes an experiment's record, newline included. `selected` writes the target's name, JSON-escaped.
pub fn experiment<'p>(
    text: &mut Text<'_>,
    experiment: &Experiment,
    selected: impl FnOnce(&mut Text<'_>),
    points: impl Iterator<Item = Point<'p>>,
) {
    let (speedup, placebo) = experiment.treatment.speedup();
    text.begin(if placebo {
        kind::PLACEBO
    } else {
        kind::EXPERIMENT
    });
    text.key(EXPERIMENT.selected);
    text.json(b"\"");
    selected(text);
    text.json(b"\"");
    let effective = experiment.wall_ns as i64 - experiment.delay_ns as i64;
    text.field(EXPERIMENT.speedup, Fraction(speedup));
    text.field(EXPERIMENT.duration, effective);
    text.field(EXPERIMENT.selected_samples, experiment.selected_samples);
    text.field(EXPERIMENT.start, experiment.start_ns);
    text.field(EXPERIMENT.wall, experiment.wall_ns);
    text.field(EXPERIMENT.pauses, experiment.pauses);
    if experiment.warmup_ns > 0 {
        text.field(EXPERIMENT.warmup, experiment.warmup_ns);
    }
    if let Some(half) = experiment.half_ns {
        text.field(EXPERIMENT.half, half);
    }
    if let Some(others) = experiment.others_ns {
        text.field(EXPERIMENT.others, others);
    }
    if let Some(queued) = experiment.queued_ns {
        text.field(EXPERIMENT.queued, queued);
    }
    if experiment.weight != FULL_WEIGHT {
        let weight = f64::from(experiment.weight) / f64::from(FULL_WEIGHT);
        text.field(EXPERIMENT.weight, weight);
    }
    text.key(EXPERIMENT.points);
    text.json(b"[");
    for (index, it) in points.enumerate() {
        if index > 0 {
            text.json(b",");
        }
        point(text, &it);
    }
    text.json(b"]}\n");
}

fn point(text: &mut Text<'_>, point: &Point<'_>) {
    let _ = write!(text, "{{\"{}\":", POINT.name);
    text.string(point.name);
    match point.count {
        Count::Throughput(delta) => {
            text.word(POINT.kind, count::THROUGHPUT);
            text.field(POINT.delta, delta);
        }
        Count::Latency {
            arrivals,
            departures,
            pending_before,
            pending_after,
            mean,
        } => {
            text.word(POINT.kind, count::LATENCY);
            text.field(POINT.arrivals, arrivals);
            text.field(POINT.departures, departures);
            text.field(POINT.difference, mean);
            text.field(
                POINT.pending,
                format_args!("[{pending_before},{pending_after}]"),
            );
        }
    }
    if let Some(half) = point.half {
        text.field(POINT.half, half);
    }
    text.json(b"}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(size: usize, build: impl FnOnce(&mut Text<'_>)) -> Option<std::string::String> {
        let mut bytes = std::vec![0; size];
        let mut text = Text::new(&mut bytes);
        build(&mut text);
        text.finish()
            .map(|bytes| std::str::from_utf8(bytes).unwrap().into())
    }

    #[test]
    fn an_experiment_is_one_json_line() {
        let record = write(1000, |text| {
            experiment(
                text,
                &Experiment {
                    treatment: Treatment::Placebo(2500),
                    start_ns: 7,
                    wall_ns: 1000,
                    delay_ns: 200,
                    pauses: 3,
                    selected_samples: 4,
                    others_ns: Some(90),
                    queued_ns: Some(8),
                    warmup_ns: 100,
                    half_ns: Some(390),
                    weight: FULL_WEIGHT / 4,
                },
                |text| text.json(b"/a/\\\"b.c:3"),
                [
                    Point {
                        name: b"iter",
                        count: Count::Throughput(41),
                        half: Some(20),
                    },
                    Point {
                        name: b"req",
                        count: Count::Latency {
                            arrivals: 9,
                            departures: 8,
                            pending_before: 2,
                            pending_after: 3,
                            mean: 2.25,
                        },
                        half: None,
                    },
                ]
                .into_iter(),
            );
        });
        assert_eq!(
            record.unwrap(),
            concat!(
                r#"{"type":"placebo","selected":"/a/\"b.c:3","speedup":0.25,"duration":800,"selected_samples":4,"#,
                r#""start":7,"wall":1000,"pauses":3,"warmup":100,"half":390,"others":90,"queued":8,"weight":0.25,"points":[{"name":"iter","kind":"throughput","delta":41,"half":20},"#,
                r#"{"name":"req","kind":"latency","arrivals":9,"departures":8,"difference":2.25,"pending":[2,3]}]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn names_from_the_program_cannot_break_a_record() {
        let cases: [(&[u8], &str); 4] = [
            (b"plain", r#""plain""#),
            (b"a\"b\\c", r#""a\"b\\c""#),
            (b"tab\tend\n", r#""tab\u0009end\u000a""#),
            (b"caf\xc3\xa9 \xff!", "\"caf\u{e9} ?!\""),
        ];
        for (name, json) in cases {
            assert_eq!(write(100, |text| text.string(name)).unwrap(), json);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_half_written() {
        assert_eq!(write(5, |text| text.string(b"abcd")), None);
        assert_eq!(write(6, |text| text.string(b"abcd")).unwrap(), "\"abcd\"");
    }

    #[test]
    fn speedups_print_as_fractions() {
        for (value, text) in [
            (0, "0"),
            (500, "0.05"),
            (2500, "0.25"),
            (3333, "0.3333"),
            (10_000, "1"),
        ] {
            assert_eq!(std::format!("{}", Fraction(value)), text);
        }
    }
}
