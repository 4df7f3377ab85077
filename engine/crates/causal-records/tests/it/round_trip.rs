//! Export, import, export: byte for byte the same, whatever a recording holds.

use fulcrum_causal_records::{read, write_json_lines, write_text};
use fulcrum_model::causal::{Count, Experiment, Recording, Visits};
use fulcrum_model::{Location, TargetId, TargetKind};
use fulcrum_stats::Random;

/// What may be in a recording.
struct Draw(Random);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn text(&mut self) -> String {
        let parts = [
            "a", " ", "\t", "\n", "=", "é", "\"", "::", " > ", "/coz.h:", "1e5", "\\", ".c",
        ];
        (0..=self.below(5)).map(|_| self.pick(&parts)).collect()
    }

    fn target(&mut self) -> TargetId {
        let kind = self.pick(&TargetKind::ALL);
        TargetId {
            kind,
            name: if kind == TargetKind::Line {
                String::new()
            } else {
                format!("f{}", self.text())
            },
            location: Location {
                file: format!("/w/{}x.c", self.text()),
                line: self.below(3) as u32,
            },
        }
    }

    fn experiment(&mut self) -> Experiment {
        let points = (0..self.below(3)).map(|_| self.point()).collect();
        Experiment {
            speedup: self.pick(&[0.0, 0.05, 0.25, 1.0 / 3.0, 1.0]),
            duration_ns: self.pick(&[500_000_000, 1, 0, -7, i64::MAX, i64::MIN]),
            selected_samples: self.pick(&[0, 9, u64::MAX]),
            weight: self.pick(&[1.0, 0.2]),
            queued_ns: self.pick(&[None, Some(4)]),
            points,
            ..Experiment::on(self.target())
        }
    }

    fn point(&mut self) -> Visits {
        let count = match self.below(2) {
            0 => Count::Throughput {
                delta: self.pick(&[0, 41, u64::MAX]),
            },
            _ => Count::Latency {
                arrivals: self.below(9) as u64,
                departures: self.below(9) as u64,
                difference: self.pick(&[0.0, 2.5, -1e-9, 0.1 + 0.2, 1e21]),
            },
        };
        Visits {
            name: self.text(),
            count,
            half: None,
        }
    }

    fn recording(&mut self) -> Recording {
        Recording {
            experiments: (0..self.below(6)).map(|_| self.experiment()).collect(),
            samples: (0..self.below(4))
                .map(|_| (self.target(), self.below(99) as u64))
                .collect(),
            runtime_ns: self.pick(&[0, 1, 60_000_000_000, u64::MAX]),
            levels: vec![0.5],
            ..Recording::default()
        }
    }
}

type Writer = fn(&Recording) -> String;

#[test]
fn an_export_that_was_imported_exports_the_same() {
    let mut random = Draw(Random::new(3));
    let writers: [(&str, Writer); 2] = [("text", write_text), ("JSON lines", write_json_lines)];
    for _ in 0..3000 {
        let recording = random.recording();
        for (format, write) in writers {
            let first = write(&recording);
            let again = read(first.as_bytes(), "export").unwrap_or_else(|e| panic!("{e}\n{first}"));
            assert_eq!(write(&again), first, "{format}");
        }
    }
}

#[test]
fn the_two_formats_hold_the_same() {
    let mut random = Draw(Random::new(4));
    for _ in 0..1000 {
        // Names as the text format can hold them.
        let text = write_text(&random.recording());
        let recording = read(text.as_bytes(), "text").unwrap();
        let json = write_json_lines(&recording);
        let again = read(json.as_bytes(), "json").unwrap();
        assert_eq!(
            (again.experiments, again.samples),
            (recording.experiments, recording.samples)
        );
        assert_eq!(again.runtime_ns, recording.runtime_ns);
    }
}
