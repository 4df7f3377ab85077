//! perf's names for events, for recordings that have only their numbers: `perf` was killed, or wrote into a pipe.

/// Types of events. The kernel never changes these numbers.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
/// The kernel's tracepoints. Their numbers change from boot to boot.
pub(crate) const TRACEPOINT: u32 = 2;
const CACHE: u32 = 3;
const RAW: u32 = 4;
const BREAKPOINT: u32 = 5;

const OF_HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

const OF_SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

const CACHES: [&str; 7] = [
    "L1-dcache",
    "L1-icache",
    "LLC",
    "dTLB",
    "iTLB",
    "branch",
    "node",
];

const OPERATIONS: [&str; 3] = ["load", "store", "prefetch"];

/// The name of an event. An unknown event gets its numbers, in the syntax of `perf record -e`.
pub(crate) fn name(kind: u32, config: u64) -> String {
    let named = |names: &[&str]| {
        let name = names.get(usize::try_from(config as u32).ok()?)?;
        Some((*name).to_owned())
    };
    let known = match kind {
        HARDWARE => named(&OF_HARDWARE),
        SOFTWARE if config >> 32 == 0 => named(&OF_SOFTWARE),
        CACHE => of_cache(config as u32),
        TRACEPOINT => Some(format!("tracepoint {config}")),
        RAW => Some(format!("r{config:x}")),
        BREAKPOINT => Some("breakpoint".to_owned()),
        _ => None,
    };
    // On hybrid processors, the upper half is the PMU.
    let unit = match kind {
        HARDWARE | CACHE => (config >> 32) as u32,
        _ => 0,
    };
    match (known, unit) {
        (Some(name), 0) => name,
        (Some(name), unit) => format!("pmu{unit}/{name}/"),
        (None, _) => format!("pmu{kind}/config={config:#x}/"),
    }
}

/// `LLC-load-misses`: the cache, the operation, and the result, in one byte each.
fn of_cache(config: u32) -> Option<String> {
    let byte = |at: u32| (config >> (8 * at) & 0xff) as usize;
    let (cache, operation) = (CACHES.get(byte(0))?, OPERATIONS.get(byte(1))?);
    let (plural, misses) = match (byte(2), *operation) {
        (0, "prefetch") => ("es", ""),
        (0, _) => ("s", ""),
        (1, _) => ("", "-misses"),
        _ => return None,
    };
    (config >> 24 == 0).then(|| format!("{cache}-{operation}{plural}{misses}"))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn numbers_are_named_as_perf_names_them() {
        for (kind, config, expect) in [
            (0, 0, "cycles"),
            (0, 2, "cache-references"),
            (0, 4, "branches"),
            (0, 9, "ref-cycles"),
            (0, 4 << 32, "pmu4/cycles/"),
            (0, 10, "pmu0/config=0xa/"),
            (1, 0, "cpu-clock"),
            (1, 4, "cpu-migrations"),
            (2, 317, "tracepoint 317"),
            (3, 0x0001_0002, "LLC-load-misses"),
            (3, 0x0000_0100, "L1-dcache-stores"),
            (3, 0x0000_0203, "dTLB-prefetches"),
            (3, 0x0002_0000, "pmu3/config=0x20000/"),
            (4, 0x01b1, "r1b1"),
            (5, 0, "breakpoint"),
            (8, 3, "pmu8/config=0x3/"),
        ] {
            assert_eq!(name(kind, config), expect, "{kind}:{config:#x}");
        }
    }
}
