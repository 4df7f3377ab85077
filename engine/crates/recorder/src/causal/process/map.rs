//! A process's map file: what may be sped up there, and the address ranges that belong to each (`fulcrum-wire`).

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_model::{TargetId, TargetKind};
use fulcrum_wire::{
    CALL_SHIFT, CALLS, CallSlot, FULL_WEIGHT, MAP_MAGIC, MapHeader, MapLayout, MapSizes, NONE,
    Node, Range, Steering, Text, VERSION, called_by, holder_of, mode,
};
use memmap2::MmapRaw;

use crate::program::shared_file;

/// The number of words, 8 bytes each, in a slot that counts what a target does in a call.
const SLOT_WORDS: usize = size_of::<CallSlot>() / 8;

/// The contents of a map file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// One of [`mode`].
    pub mode: u32,
    /// What may be selected. Blocked calls are named by their lines alone: the runtime finds out which call it is.
    pub targets: Vec<TargetId>,
    /// In the process's addresses, sorted and disjoint.
    pub ranges: Vec<Range>,
    /// Activations of functions.
    pub nodes: Vec<Node>,
    /// Paths, each ended by [`NONE`].
    pub steps: Vec<u32>,
    /// The only target that may be selected.
    pub fixed: Option<u32>,
    /// The lock that a thread must hold for its samples to count, or [`fulcrum_wire::ANY_LOCK`]; 0 when all samples count.
    pub lock: u64,
    /// The type of the requests that are progress points; empty when there are none.
    pub request: String,
    /// What weakens the result; whole sentences.
    pub notes: Vec<String>,
}

/// A map file. The runtime reads it, and the recorder changes in it how often each target is selected.
pub(crate) struct MapFile {
    block: MmapRaw,
    steering_at: usize,
    mode: u32,
    targets: Vec<TargetId>,
    index: HashMap<TargetId, usize>,
}

impl MapFile {
    /// Writes the file.
    pub(crate) fn create(path: &Path, plan: &Plan) -> io::Result<MapFile> {
        // The runtime copies names into JSON as they are.
        let names: Vec<String> = plan
            .targets
            .iter()
            .map(|it| match plan.mode {
                mode::BLOCKED => escape(&it.location.to_string()),
                _ => escape(&it.to_string()),
            })
            .collect();
        let layout = MapLayout::new(MapSizes {
            targets: names.len(),
            ranges: plan.ranges.len(),
            nodes: plan.nodes.len(),
            steps: plan.steps.len(),
            text: names.iter().map(String::len).sum::<usize>() + plan.request.len(),
        });
        let mut block = shared_file::create(path, layout.length)?;
        let header = header(plan, &layout);
        let mut at = layout.text_at + plan.request.len();
        block[layout.text_at..at].copy_from_slice(plan.request.as_bytes());
        let texts: Vec<Text> = names
            .iter()
            .map(|name| {
                let text = Text {
                    at: at as u64,
                    length: name.len() as u64,
                };
                block[at..at + name.len()].copy_from_slice(name.as_bytes());
                at += name.len();
                text
            })
            .collect();
        // At first every target has its full weight, the usual warm-up and every level.
        let steering = vec![[FULL_WEIGHT, 0, 0, 0]; names.len()];
        // SAFETY: the mapping is page-aligned and as long as `layout` says, which aligns each part to eight bytes and sizes it
        // for as many entries as are written here.
        unsafe {
            let base = block.as_mut_ptr();
            base.cast::<MapHeader>().write(header);
            put(base.add(layout.ranges_at), &plan.ranges);
            put(base.add(layout.nodes_at), &plan.nodes);
            put(base.add(layout.names_at), &texts);
            put(base.add(layout.steering_at), &steering);
            put(base.add(layout.steps_at), &plan.steps);
        }
        let targets = plan.targets.clone();
        let index = targets
            .iter()
            .enumerate()
            .map(|(index, target)| (key(target, plan.mode), index))
            .collect();
        Ok(MapFile {
            block: block.into(),
            steering_at: layout.steering_at,
            mode: plan.mode,
            targets,
            index,
        })
    }

    /// Sets how likely a sample of a target is accepted as the choice of what to speed up, 0 to 1.
    pub(crate) fn set_weight(&self, target: &TargetId, weight: f64) {
        if let Some(steering) = self.steering(target) {
            steering.weight.store(word(weight), Ordering::Relaxed);
        }
    }

    /// Sets how long experiments on a target warm up at least.
    pub(crate) fn set_warmup(&self, target: &TargetId, warmup: Duration) {
        if let Some(steering) = self.steering(target) {
            let ms = u32::try_from(warmup.as_millis()).unwrap_or(u32::MAX);
            steering.warmup_ms.store(ms, Ordering::Relaxed);
        }
    }

    /// Makes experiments on these targets draw from some of the session's levels only, a bit for each; 0 stands for all.
    /// Samples of every other target are accepted with this `weight`.
    pub(crate) fn concentrate(&self, targets: &[TargetId], levels: u32, weight: f64) {
        for at in 0..self.targets.len() {
            self.steering_of(at)
                .weight
                .store(word(weight), Ordering::Relaxed);
        }
        for steering in targets.iter().filter_map(|it| self.steering(it)) {
            steering.weight.store(FULL_WEIGHT, Ordering::Relaxed);
            steering.levels.store(levels, Ordering::Relaxed);
        }
    }

    /// `None` for a target that is not in the map.
    fn steering(&self, target: &TargetId) -> Option<&Steering> {
        let index = *self.index.get(&key(target, self.mode))?;
        Some(self.steering_of(index))
    }

    fn steering_of(&self, index: usize) -> &Steering {
        assert!(index < self.targets.len());
        // SAFETY: `create` has written one for each target, aligned, within the mapping, and `index` is below their number. All
        // of its words are atomics.
        unsafe {
            &*self
                .block
                .as_ptr()
                .add(self.steering_at)
                .cast::<Steering>()
                .add(index)
        }
    }

    /// What may be selected, in the order of the sample counters.
    pub(crate) fn targets(&self) -> &[TargetId] {
        &self.targets
    }

    /// What the targets do in calls, from the slots behind those counters: target, function, periods of processor time and
    /// periods of wall time.
    pub(crate) fn calls<'a>(
        &'a self,
        counts: &'a [u64],
    ) -> impl Iterator<Item = (String, &'static str, u64, u64)> + 'a {
        let slots = counts.get(self.targets.len()..).unwrap_or_default();
        slots.chunks_exact(SLOT_WORDS).filter_map(|slot| {
            let (target, function) = called_by(slot[0])?;
            let target = self.targets.get(target as usize)?;
            Some((target.to_string(), function, slot[1], slot[2]))
        })
    }

    /// Which targets waited for locks, which targets released those, and how often.
    pub(crate) fn holders<'a>(
        &'a self,
        counts: &'a [u64],
    ) -> impl Iterator<Item = (String, String, u64)> + 'a {
        let slots = counts.get(self.targets.len()..).unwrap_or_default();
        slots.chunks_exact(SLOT_WORDS).filter_map(|slot| {
            let (waiter, holder) = holder_of(slot[0])?;
            let target = |index: u32| Some(self.targets.get(index as usize)?.to_string());
            Some((target(waiter)?, target(holder)?, slot[1]))
        })
    }

    /// The names of the targets with their sample counters, which the runtime keeps in another file.
    pub(crate) fn named<'a>(
        &'a self,
        counts: &'a [u64],
    ) -> impl Iterator<Item = (String, u64)> + 'a {
        self.targets.iter().zip(counts).map(|(target, counter)| {
            let count = counter & ((1 << CALL_SHIFT) - 1);
            let call = (counter >> CALL_SHIFT) as usize;
            let name = match self.mode {
                mode::BLOCKED => TargetId {
                    kind: TargetKind::Blocked,
                    name: call
                        .checked_sub(1)
                        .and_then(|call| CALLS.get(call))
                        .map_or_else(|| "?".into(), |call| (*call).to_owned()),
                    location: target.location.clone(),
                }
                .to_string(),
                _ => target.to_string(),
            };
            (name, count)
        })
    }
}

fn header(plan: &Plan, layout: &MapLayout) -> MapHeader {
    MapHeader {
        magic: MAP_MAGIC,
        version: VERSION,
        mode: plan.mode,
        target_count: plan.targets.len() as u32,
        range_count: plan.ranges.len() as u32,
        node_count: plan.nodes.len() as u32,
        step_count: plan.steps.len() as u32,
        fixed: plan.fixed.unwrap_or(NONE),
        unused: 0,
        ranges_at: layout.ranges_at as u64,
        nodes_at: layout.nodes_at as u64,
        names_at: layout.names_at as u64,
        steering_at: layout.steering_at as u64,
        steps_at: layout.steps_at as u64,
        length: layout.length as u64,
        lock: plan.lock,
        request: Text {
            at: layout.text_at as u64,
            length: plan.request.len() as u64,
        },
    }
}

/// A probability, 0 to 1, as the runtime reads it.
fn word(weight: f64) -> u32 {
    let weight = (weight.clamp(0.0, 1.0) * f64::from(FULL_WEIGHT)).round() as u32;
    weight.max(1)
}

/// The map identifies a blocked call by its line alone.
fn key(target: &TargetId, mode: u32) -> TargetId {
    match mode {
        mode::BLOCKED => TargetId::line(target.location.clone()),
        _ => target.clone(),
    }
}

/// Copies the values to memory.
///
/// # Safety
/// `to` must be aligned for `T`, and valid for writing all of the values.
unsafe fn put<T: Copy>(to: *mut u8, values: &[T]) {
    // SAFETY: the caller promises room and alignment, and `values` cannot overlap memory that is being written.
    unsafe {
        to.cast::<T>()
            .copy_from_nonoverlapping(values.as_ptr(), values.len());
    }
}

/// The inside of a JSON string.
fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(mode: u32) -> Plan {
        let at = |text: &str| TargetId::line(text.parse().unwrap());
        Plan {
            mode,
            targets: vec![at("/a b/\"x\".c:3"), at("/y.c:9")],
            ranges: vec![Range {
                start: 16,
                end: 32,
                index: 1,
                unused: 0,
            }],
            ..Plan::default()
        }
    }

    #[test]
    fn a_map_holds_names_ranges_weights_and_warmups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let plan = plan(mode::LINE);
        let map = MapFile::create(&path, &plan).unwrap();
        map.set_weight(&plan.targets[1], 0.25);
        map.set_warmup(&plan.targets[1], Duration::from_millis(300));
        map.set_weight(&TargetId::line("/z.c:1".parse().unwrap()), 0.5);
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.ends_with("/a b/\\\"x\\\".c:3/y.c:9"));
        let word = |index: usize| {
            let at = map.steering_at + 4 * index;
            u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
        };
        let asked = [FULL_WEIGHT, 0, 0, 0, FULL_WEIGHT / 4, 300, 0, 0];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(word), asked);
        let named: Vec<_> = map.named(&[4, 0]).collect();
        assert_eq!(
            named,
            [("/a b/\"x\".c:3".to_owned(), 4), ("/y.c:9".to_owned(), 0)]
        );
    }

    #[test]
    fn experiments_concentrate_on_some_targets_and_levels() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(mode::LINE);
        let map = MapFile::create(&folder.path().join("m"), &plan).unwrap();
        let asked = || {
            [0, 1].map(|at| {
                let it = map.steering_of(at);
                (
                    it.weight.load(Ordering::Relaxed),
                    it.levels.load(Ordering::Relaxed),
                )
            })
        };
        map.concentrate(&plan.targets[1..], 0b1010, 0.25);
        assert_eq!(asked(), [(FULL_WEIGHT / 4, 0), (FULL_WEIGHT, 0b1010)]);
        map.concentrate(&plan.targets[1..], 0, 1.0);
        assert_eq!(asked(), [(FULL_WEIGHT, 0), (FULL_WEIGHT, 0)]);
    }

    #[test]
    fn call_slots_follow_the_counters() {
        let folder = tempfile::tempdir().unwrap();
        let map = MapFile::create(&folder.path().join("m"), &plan(mode::LINE)).unwrap();
        let send = fulcrum_wire::function("sendmsg");
        let of_none = fulcrum_wire::call_key(2, send);
        let key = fulcrum_wire::call_key(1, send);
        let held = fulcrum_wire::holder_key(1, 0).unwrap();
        let counts = [4, 9, 0, 0, 0, key, 6, 8, of_none, 1, 1, held, 7, 0];
        let calls: Vec<_> = map.calls(&counts).collect();
        assert_eq!(calls, [("/y.c:9".to_owned(), "sendmsg", 6, 8)]);
        let holders: Vec<_> = map.holders(&counts).collect();
        assert_eq!(
            holders,
            [("/y.c:9".to_owned(), "/a b/\"x\".c:3".to_owned(), 7)]
        );
        assert_eq!(map.named(&counts).count(), 2);
        assert_eq!(map.calls(&[4]).count(), 0);
    }

    #[test]
    fn blocked_calls_are_named_by_what_the_runtime_saw() {
        let folder = tempfile::tempdir().unwrap();
        let map = MapFile::create(&folder.path().join("m"), &plan(mode::BLOCKED)).unwrap();
        let named: Vec<_> = map.named(&[0, 7 | 8 << CALL_SHIFT]).collect();
        assert_eq!(named[1], ("blocked:nanosleep@/y.c:9".to_owned(), 7));
    }
}
