//! An iteration, as a row of the table.

use std::path::PathBuf;

use fulcrum_schema::RefineIteration;

use super::Estimate;

/// One iteration of the loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    /// Its number, from 1.
    pub number: usize,
    /// The folder of the run that is kept.
    pub run: PathBuf,
    /// The file of its filter.
    pub filter: PathBuf,
    /// The number of methods with probes.
    pub methods: u64,
    /// The number of their classes.
    pub classes: u64,
    /// The number of calls whose probes fired, the mean of the runs.
    pub fired: u64,
    /// The number of calls that were measured, the mean of the runs.
    pub metered: u64,
    /// The number of hotspots.
    pub hotspots: u64,
    /// The number of units of work, the mean of the runs.
    pub units: u64,
    /// The wall time of a unit in nanoseconds; `None` when unknown.
    pub wall_ns: Option<f64>,
    /// The CPU time of a unit in nanoseconds.
    pub cpu_ns: Option<f64>,
    /// The same without instrumentation.
    pub baseline_wall_ns: Option<f64>,
    /// The same without instrumentation.
    pub baseline_cpu_ns: Option<f64>,
    /// What instrumentation adds to a unit's wall time.
    pub overhead: Option<Estimate>,
    /// What instrumentation adds to a unit's CPU time.
    pub cpu_overhead: Option<Estimate>,
    /// Excluded methods that were measured again.
    pub rechecked: Vec<String>,
    /// Those of them that are hotspots after all.
    pub found: Vec<String>,
}

impl From<&Iteration> for RefineIteration {
    fn from(it: &Iteration) -> Self {
        let value = |it: Option<Estimate>| it.map(|it| it.value);
        let low = |it: Option<Estimate>| it.and_then(|it| it.interval).map(|it| it.low);
        let high = |it: Option<Estimate>| it.and_then(|it| it.interval).map(|it| it.high);
        RefineIteration {
            number: it.number as u32,
            run: it.run.to_string_lossy().into_owned(),
            filter: it.filter.to_string_lossy().into_owned(),
            methods: it.methods,
            classes: it.classes,
            fired: it.fired,
            metered: it.metered,
            hotspots: it.hotspots,
            units: it.units,
            wall_ns: it.wall_ns,
            cpu_ns: it.cpu_ns,
            baseline_wall_ns: it.baseline_wall_ns,
            baseline_cpu_ns: it.baseline_cpu_ns,
            overhead: value(it.overhead),
            overhead_low: low(it.overhead),
            overhead_high: high(it.overhead),
            cpu_overhead: value(it.cpu_overhead),
            cpu_overhead_low: low(it.cpu_overhead),
            cpu_overhead_high: high(it.cpu_overhead),
            rechecked: it.rechecked.clone(),
            found: it.found.clone(),
        }
    }
}
