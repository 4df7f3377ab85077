//! An iteration as a row of the table.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Estimate;

/// One iteration of the loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    /// From 1.
    pub number: usize,
    /// The run that is kept of it.
    pub run: PathBuf,
    /// The file of its filter.
    pub filter: PathBuf,
    /// Methods that had probes.
    pub methods: u64,
    /// Their classes.
    pub classes: u64,
    /// Calls whose probes fired, in the mean of the runs.
    pub fired: u64,
    /// Calls that were measured, in the mean of the runs.
    pub metered: u64,
    /// Methods that are hotspots.
    pub hotspots: u64,
    /// Units of work, in the mean of the runs.
    pub units: u64,
    /// Time of a unit, nanoseconds; `None` when it is not known.
    pub wall_ns: Option<f64>,
    /// CPU time of a unit, nanoseconds.
    pub cpu_ns: Option<f64>,
    /// The same without instrumentation.
    pub baseline_wall_ns: Option<f64>,
    /// The same without instrumentation.
    pub baseline_cpu_ns: Option<f64>,
    /// What instrumentation adds to a unit's wall time.
    pub overhead: Option<Estimate>,
    /// What instrumentation adds to a unit's CPU time.
    pub cpu_overhead: Option<Estimate>,
    /// Excluded methods that were looked at again.
    pub rechecked: Vec<String>,
    /// Those of them that are hotspots after all.
    pub found: Vec<String>,
}

impl Iteration {
    /// As `fulcrum refine --json` and `refine.json` have it. Times are nanoseconds, overheads fractions.
    pub fn to_json(&self) -> Value {
        let value = |it: Option<Estimate>| it.map(|it| it.value);
        let low = |it: Option<Estimate>| it.and_then(|it| it.interval).map(|(low, _)| low);
        let high = |it: Option<Estimate>| it.and_then(|it| it.interval).map(|(_, high)| high);
        json!({
            "number": self.number, "run": self.run, "filter": self.filter,
            "methods": self.methods, "classes": self.classes, "fired": self.fired, "metered": self.metered,
            "hotspots": self.hotspots, "units": self.units, "wallNs": self.wall_ns, "cpuNs": self.cpu_ns,
            "baselineWallNs": self.baseline_wall_ns, "baselineCpuNs": self.baseline_cpu_ns,
            "overhead": value(self.overhead), "overheadLow": low(self.overhead), "overheadHigh": high(self.overhead),
            "cpuOverhead": value(self.cpu_overhead), "cpuOverheadLow": low(self.cpu_overhead),
            "cpuOverheadHigh": high(self.cpu_overhead),
            "rechecked": self.rechecked, "found": self.found,
        })
    }
}
