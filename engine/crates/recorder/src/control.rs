//! The engine's end of the control block (`fulcrum-wire`): the session, its heartbeat, and each process's answer.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fulcrum_wire::{
    MAP_MAGIC, MAX_LEVELS, MapHeader, MapLayout, NONE, PROCESS_MAGIC, Process, Range,
    SESSION_MAGIC, Session, Text, VERSION, sampler,
};
use memmap2::MmapMut;

use crate::{Options, Sampler};

/// CPU time between two samples of a thread (COZ §3.1: 1 ms).
const PERIOD_NS: u64 = 1_000_000;
/// Samples a signal. COZ takes ten; with one, a pause follows the sample that caused it within a millisecond, which
/// matters when an experiment holds few visits.
const BATCH: u32 = 1;
/// The shortest experiment.
const EXPERIMENT_NS: u64 = 200_000_000;
/// Between experiments: ten samples' time (COZ §3.2).
const COOLOFF_NS: u64 = 10_000_000;
/// Visits that an experiment should see (COZ §3.2).
const MIN_VISITS: u32 = 5;
/// Four levels and a fit find a slope sooner than twenty 5 % steps.
const LEVELS: [u32; 4] = [2500, 5000, 7500, 10_000];

/// `CLOCK_MONOTONIC`, nanoseconds: the clock that the runtime compares heartbeats with.
pub fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn wake(word: &AtomicU32) {
    // SAFETY: wakes waiters on a word that outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

fn map_new(path: &Path, length: usize) -> io::Result<MmapMut> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    file.set_len(length as u64)?;
    map(&file)
}

fn map(file: &File) -> io::Result<MmapMut> {
    // SAFETY: the file is in our run folder; only atomics are read from it while the other side writes.
    unsafe { MmapMut::map_mut(file) }
}

/// `session.ctl`, kept alive by a heartbeat.
pub struct Control {
    block: Arc<MmapMut>,
    stop: Arc<AtomicBool>,
    heart: Option<JoinHandle<()>>,
}

fn session_of(block: &MmapMut) -> &Session {
    // SAFETY: `Control::create` maps exactly one page-aligned Session and fills it before anybody reads it.
    unsafe { &*block.as_ptr().cast::<Session>() }
}

impl Control {
    /// Creates the file and starts the heartbeat.
    pub fn create(path: &Path, options: &Options) -> io::Result<Control> {
        let mut block = map_new(path, size_of::<Session>())?;
        let fixed = options.fixed_speedup.map(|speedup| {
            (speedup.clamp(0.0, 1.0) * f64::from(fulcrum_wire::FULL_SPEEDUP)).round() as u32
        });
        // The record says which levels were drawn from, so that a line needs no more points than there can be.
        let drawn = match fixed {
            Some(fixed) if fixed > 0 => vec![fixed],
            _ => LEVELS.to_vec(),
        };
        let mut levels = [0; MAX_LEVELS];
        levels[..drawn.len()].copy_from_slice(&drawn);
        let seed = now() as u32;
        let session = Session {
            magic: SESSION_MAGIC,
            version: VERSION,
            command: AtomicU32::new(fulcrum_wire::command::RUN),
            heartbeat_ns: AtomicU64::new(now()),
            hellos: AtomicU32::new(0),
            // SIGPROF is what profilers use; programs that use it too still get theirs.
            signal: libc::SIGPROF,
            period_ns: PERIOD_NS,
            batch: BATCH,
            sampler: match options.sampler {
                Sampler::Auto => sampler::AUTO,
                Sampler::Perf => sampler::PERF,
                Sampler::Timer => sampler::TIMER,
            },
            experiment_ns: EXPERIMENT_NS,
            cooloff_ns: COOLOFF_NS,
            min_visits: MIN_VISITS,
            level_count: drawn.len() as u32,
            levels,
            fixed_speedup: fixed.unwrap_or(NONE),
            seed,
        };
        // SAFETY: the mapping is page-aligned and exactly as long.
        unsafe { block.as_mut_ptr().cast::<Session>().write(session) };
        let block = Arc::new(block);
        let stop = Arc::new(AtomicBool::new(false));
        let heart = std::thread::Builder::new()
            .name("heartbeat".into())
            .spawn({
                let (block, stop) = (block.clone(), stop.clone());
                move || {
                    while !stop.load(Ordering::Relaxed) {
                        session_of(&block)
                            .heartbeat_ns
                            .store(now(), Ordering::Release);
                        std::thread::park_timeout(Duration::from_millis(100));
                    }
                }
            })?;
        Ok(Control {
            block,
            stop,
            heart: Some(heart),
        })
    }

    /// Processes that have announced themselves so far.
    pub fn hellos(&self) -> u32 {
        session_of(&self.block).hellos.load(Ordering::Acquire)
    }

    /// Tells every process what to do: one of `fulcrum_wire::command`.
    pub fn command(&self, command: u32) {
        let word = &session_of(&self.block).command;
        if word.swap(command, Ordering::AcqRel) != command {
            wake(word);
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(heart) = self.heart.take() {
            heart.thread().unpark();
            let _ = heart.join();
        }
    }
}

/// A process's `.proc` file.
pub struct ProcessBlock(MmapMut);

impl ProcessBlock {
    /// `None` while the file is not complete, or for a file that is not of this version.
    pub fn open(path: &Path) -> io::Result<Option<ProcessBlock>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if (file.metadata()?.len() as usize) < size_of::<Process>() {
            return Ok(None);
        }
        let block = ProcessBlock(map(&file)?);
        let sound = block.get().magic == PROCESS_MAGIC && block.get().version == VERSION;
        Ok(sound.then_some(block))
    }

    /// The block.
    pub fn get(&self) -> &Process {
        // SAFETY: `open` has checked the length; fields that change are atomics.
        unsafe { &*self.0.as_ptr().cast::<Process>() }
    }

    /// Answers a process that waits: one of `fulcrum_wire::state`.
    pub fn answer(&self, state: u32) {
        self.get().state.store(state, Ordering::Release);
        wake(&self.get().state);
    }
}

/// A process's `.map` file: the lines in scope, and how often each was sampled.
pub struct LineMap {
    block: MmapMut,
    counts_at: usize,
    names: Vec<String>,
}

impl LineMap {
    /// Writes the file. `ranges` are sorted, disjoint, in the process's addresses, and index `names`.
    pub fn create(
        path: &Path,
        names: Vec<String>,
        ranges: &[Range],
        fixed: Option<u32>,
    ) -> io::Result<LineMap> {
        // The runtime copies names into JSON as they are.
        let escaped: Vec<String> = names.iter().map(|name| escape(name)).collect();
        let text_length = escaped.iter().map(String::len).sum();
        let layout = MapLayout::new(names.len(), ranges.len(), text_length);
        let mut block = map_new(path, layout.length)?;
        let header = MapHeader {
            magic: MAP_MAGIC,
            version: VERSION,
            line_count: names.len() as u32,
            range_count: ranges.len() as u32,
            fixed_line: fixed.unwrap_or(NONE),
            ranges_at: layout.ranges_at as u64,
            names_at: layout.names_at as u64,
            counts_at: layout.counts_at as u64,
            length: layout.length as u64,
        };
        // SAFETY: the mapping is page-aligned, `layout` aligns each part to eight bytes, and its length holds them all.
        unsafe {
            let base = block.as_mut_ptr();
            base.cast::<MapHeader>().write(header);
            for (index, range) in ranges.iter().enumerate() {
                base.add(layout.ranges_at)
                    .cast::<Range>()
                    .add(index)
                    .write(*range);
            }
            let mut at = layout.text_at;
            for (index, name) in escaped.iter().enumerate() {
                let text = Text {
                    at: at as u64,
                    length: name.len() as u64,
                };
                base.add(layout.names_at)
                    .cast::<Text>()
                    .add(index)
                    .write(text);
                base.add(at)
                    .copy_from_nonoverlapping(name.as_ptr(), name.len());
                at += name.len();
            }
        }
        Ok(LineMap {
            block,
            counts_at: layout.counts_at,
            names,
        })
    }

    /// Every line with its samples so far.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().enumerate().map(|(index, name)| {
            // SAFETY: one counter a name, 8-aligned, within the mapping.
            let count = unsafe {
                &*self
                    .block
                    .as_ptr()
                    .add(self.counts_at)
                    .cast::<AtomicU64>()
                    .add(index)
            };
            (name.as_str(), count.load(Ordering::Relaxed))
        })
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

    #[test]
    fn a_session_beats_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let control = Control::create(&folder.path().join("s"), &Options::default()).unwrap();
        let block = control.block.clone();
        let first = session_of(&block).heartbeat_ns.load(Ordering::Acquire);
        let renewed = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            session_of(&block).heartbeat_ns.load(Ordering::Acquire) > first
        });
        assert!(renewed);
        drop(control);
        let last = session_of(&block).heartbeat_ns.load(Ordering::Acquire);
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(
            session_of(&block).heartbeat_ns.load(Ordering::Acquire),
            last
        );
    }

    #[test]
    fn a_map_holds_names_ranges_and_counters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let names = vec!["/a b/\"x\".c:3".to_owned(), "/y.c:9".to_owned()];
        let ranges = [Range {
            start: 16,
            end: 32,
            line: 1,
            unused: 0,
        }];
        let map = LineMap::create(&path, names.clone(), &ranges, Some(1)).unwrap();
        let counts: Vec<_> = map.counts().collect();
        assert_eq!(counts, [("/a b/\"x\".c:3", 0), ("/y.c:9", 0)]);
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.ends_with("/a b/\\\"x\\\".c:3/y.c:9"));
    }
}
