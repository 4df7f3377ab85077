//! The records of our own stream as `serde` reads them, and what becomes of them in a recording.

use std::collections::HashMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{CallTime, Count, Experiment, Holder, Visits};
use fulcrum_wire::causal::{self, count};
use serde::Deserialize;
use serde_json::Value;

/// Defines a record. Its fields must be among the keys that [`causal`] defines for it, or it does not compile.
macro_rules! record {
    ($keys:ident, struct $name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize)]
        pub(super) struct $name {
            $($(#[$attribute])* pub(super) $field: $type,)*
        }

        const _: &[&str] = &[$(causal::$keys.$field),*];
    };
}

record! {
    HEADER,
    struct Header {
        #[serde(default)]
        version: u64,
        #[serde(default)]
        levels: Vec<f64>,
        period: Option<u64>,
        target: Option<String>,
        #[serde(default)]
        program: String,
        #[serde(default)]
        shared: Vec<String>,
    }
}

record! {
    EXPERIMENT,
    struct ExperimentRecord {
        selected: String,
        speedup: f64,
        duration: i64,
        selected_samples: u64,
        #[serde(default)]
        start: u64,
        #[serde(default)]
        wall: u64,
        others: Option<u64>,
        weight: Option<f64>,
        queued: Option<u64>,
        pauses: Option<u64>,
        warmup: Option<u64>,
        half: Option<i64>,
        #[serde(default)]
        points: Vec<PointRecord>,
    }
}

record! {
    POINT,
    struct PointRecord {
        name: String,
        kind: String,
        #[serde(default)]
        delta: u64,
        #[serde(default)]
        arrivals: u64,
        #[serde(default)]
        departures: u64,
        #[serde(default)]
        difference: f64,
        half: Option<u64>,
    }
}

record! {
    SAMPLES,
    struct SamplesRecord {
        time: u64,
        #[serde(default)]
        delay: u64,
        #[serde(default)]
        rested: u64,
        #[serde(default)]
        total: u64,
        #[serde(default)]
        queued: u64,
        #[serde(default)]
        lines: HashMap<String, u64>,
        #[serde(default)]
        calls: Vec<CallRecord>,
        #[serde(default)]
        holders: Vec<HolderRecord>,
        /// Whether samples see the kernel's work.
        #[serde(default = "yes")]
        kernel: bool,
    }
}

const fn yes() -> bool {
    true
}

record! {
    CALL,
    struct CallRecord {
        at: String,
        function: String,
        processor: u64,
        whole: u64,
    }
}

record! {
    HOLDER,
    struct HolderRecord {
        at: String,
        by: String,
        count: u64,
    }
}

record! {
    END,
    struct EndRecord {
        time: u64,
        #[serde(default)]
        delay: u64,
        #[serde(default)]
        rested: u64,
    }
}

pub(super) fn record<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|e| {
        let kind = value
            .get(causal::TYPE)
            .and_then(Value::as_str)
            .unwrap_or_default();
        format!("the {kind} record is not as expected: {e}")
    })
}

impl ExperimentRecord {
    /// The experiment, as if it were no placebo and of no program.
    pub(super) fn check(self) -> Result<Experiment, String> {
        if !(0.0..=1.0).contains(&self.speedup) {
            return Err(format!(
                "expected a speedup from 0 to 1, got {}",
                self.speedup
            ));
        }
        let others = self
            .others
            .map(|cpu_ns| cpu_ns as f64 / self.wall.max(1) as f64);
        let weight = self.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(format!("expected a weight above 0, got {weight}"));
        }
        Ok(Experiment {
            others,
            weight,
            queued_ns: self.queued,
            pauses: self.pauses,
            warmup_ns: self.warmup,
            half_ns: self.half,
            placebo: false,
            selected: self
                .selected
                .parse()
                .map_err(|e| format!("bad selected: {e}"))?,
            speedup: self.speedup + 0.0,
            duration_ns: self.duration,
            selected_samples: self.selected_samples,
            program: None,
            points: self
                .points
                .into_iter()
                .map(PointRecord::check)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl CallRecord {
    pub(super) fn check(self) -> Result<CallTime, String> {
        let target = self.at.parse::<TargetId>();
        Ok(CallTime {
            target: target.map_err(|e| format!("bad call: {e}"))?,
            function: fulcrum_model::text::shorten(&self.function),
            processor: self.processor,
            whole: self.whole,
        })
    }
}

impl HolderRecord {
    pub(super) fn check(self) -> Result<Holder, String> {
        let target = |text: &str| {
            text.parse::<TargetId>()
                .map_err(|e| format!("bad holder: {e}"))
        };
        Ok(Holder {
            waiter: target(&self.at)?,
            holder: target(&self.by)?,
            count: self.count,
        })
    }
}

impl PointRecord {
    fn check(self) -> Result<Visits, String> {
        let count = match self.kind.as_str() {
            count::THROUGHPUT => Count::Throughput { delta: self.delta },
            count::LATENCY => Count::Latency {
                arrivals: self.arrivals,
                departures: self.departures,
                difference: self.difference,
            },
            other => {
                return Err(format!(
                    "expected the kind throughput or latency, got {other:?}"
                ));
            }
        };
        Ok(Visits {
            name: self.name,
            count,
            half: self.half,
        })
    }
}
