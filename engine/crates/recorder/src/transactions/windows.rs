//! Pauses of a recording: all processes pause and go on at the same times, which a file in the run tells the reader.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulcrum_wire::transactions::WINDOWS_FILE;

use super::pace::{Pace, Work};
use super::settings::Settings;
use crate::program::clock::{monotonic_ns, thread_cpu_time};
use crate::program::proc::cpu_time;

/// How often it is decided whether to record.
const DECIDES: Duration = Duration::from_secs(1);

/// The windows of a session.
pub(crate) struct Windows {
    pace: Pace,
    began: Instant,
    decided: Instant,
    cpu: CpuTimes,
    file: PathBuf,
    out: Option<File>,
    /// The times at which recording paused and went on, in turn.
    switches: Vec<u64>,
    /// Why recording no longer pauses.
    failed: Option<io::Error>,
}

impl Windows {
    /// Windows of a run that recording may slow down by so much, as a fraction.
    pub(crate) fn new(run: &Path, most: f64) -> Windows {
        let now = Instant::now();
        Windows {
            pace: Pace::new(most),
            began: now,
            decided: now,
            cpu: CpuTimes::default(),
            file: run.join(WINDOWS_FILE),
            out: None,
            switches: Vec::new(),
            failed: None,
        }
    }

    /// Pauses or goes on if it is time to. `living` gives the processes that are recorded, and `messages` how many all have sent so far.
    /// Returns whether this has changed anything.
    pub(crate) fn decide<Living: Iterator<Item = u32>>(
        &mut self,
        living: impl FnOnce() -> Living,
        messages: impl FnOnce() -> u64,
        settings: &Settings,
    ) -> bool {
        if self.decided.elapsed() < DECIDES || self.failed.is_some() {
            return false;
        }
        self.decided = Instant::now();
        let work = Work {
            time: self.began.elapsed(),
            // What reading samples takes is missing elsewhere on a busy machine.
            cpu: self.cpu.read(living()) + thread_cpu_time(),
            messages: messages(),
        };
        self.pace.pauses(work) != self.is_paused() && self.switch(settings)
    }

    /// Whether recording pauses.
    pub(crate) fn is_paused(&self) -> bool {
        !self.switches.len().is_multiple_of(2)
    }

    /// Whether a moment was in a pause.
    pub(crate) fn was_paused(&self, time_ns: u64) -> bool {
        let before = self.switches.partition_point(|it| *it <= time_ns);
        !before.is_multiple_of(2)
    }

    /// By how much recording slows the program down while it goes on, if it has ever paused and that is known.
    pub(crate) fn cost(&self) -> Option<f64> {
        self.pace.cost().filter(|_| !self.switches.is_empty())
    }

    /// Why recording no longer pauses, if so.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// The file is written first: whatever is recorded after a pause that no file tells of would be read as if there had been none.
    fn switch(&mut self, settings: &Settings) -> bool {
        let time_ns = monotonic_ns();
        if let Err(error) = self.write(time_ns) {
            self.failed = Some(error);
            return false;
        }
        self.switches.push(time_ns);
        settings.set_window(self.switches.len() as u64);
        true
    }

    fn write(&mut self, time_ns: u64) -> io::Result<()> {
        let out = match &mut self.out {
            Some(out) => out,
            None => {
                let mut options = OpenOptions::new();
                let out = options.create(true).append(true).open(&self.file)?;
                self.out.insert(out)
            }
        };
        let whole = 8 * self.switches.len() as u64;
        let written = out.write_all(&time_ns.to_le_bytes());
        if written.is_err() {
            // Part of a word would shift all that follow.
            let _ = fs::File::options()
                .write(true)
                .open(&self.file)
                .and_then(|it| it.set_len(whole));
        }
        written
    }
}

/// The CPU time of all processes together. What a process has used goes over to its parent's children's time when it has ended.
#[derive(Debug, Default)]
struct CpuTimes {
    last: Duration,
    all: Duration,
}

impl CpuTimes {
    fn read(&mut self, living: impl Iterator<Item = u32>) -> Duration {
        let now: Duration = living.filter_map(cpu_time).sum();
        // Less, if a process has ended whose parent is not recorded.
        self.all += now.saturating_sub(self.last);
        self.last = now;
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::super::TransactionOptions;
    use super::*;

    #[test]
    fn every_pause_is_in_the_file_before_it_begins() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::create(folder.path(), &TransactionOptions::default()).unwrap();
        let mut windows = Windows::new(folder.path(), 0.03);
        assert!(!windows.is_paused() && !windows.was_paused(0));
        for expected in [true, false, true] {
            assert!(windows.switch(&settings));
            assert_eq!(windows.is_paused(), expected);
        }
        let bytes = fs::read(folder.path().join(WINDOWS_FILE)).unwrap();
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|it| u64::from_le_bytes(it.try_into().unwrap()))
            .collect();
        assert_eq!(words, windows.switches);
        let [paused, went_on, paused_again] = words[..] else {
            panic!("{words:?}");
        };
        let was = [paused - 1, paused, went_on - 1, went_on, paused_again]
            .map(|it| windows.was_paused(it));
        assert_eq!(was, [false, true, true, false, true]);
    }

    #[test]
    fn without_room_for_the_file_recording_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::create(folder.path(), &TransactionOptions::default()).unwrap();
        let mut windows = Windows::new(&folder.path().join("gone"), 0.03);
        assert!(!windows.switch(&settings));
        assert!(!windows.is_paused() && windows.failure().is_some());
    }

    #[test]
    fn the_time_of_a_process_counts_after_its_end() {
        let mut times = CpuTimes::default();
        let own = std::process::id();
        while times.read([own].into_iter()).is_zero() {}
        let before = times.all;
        assert_eq!(times.read([].into_iter()), before);
    }

    #[test]
    fn the_time_of_children_counts() {
        let before = cpu_time(std::process::id()).unwrap();
        let busy = "n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done";
        let status = std::process::Command::new("sh").args(["-c", busy]).status();
        assert!(status.unwrap().success());
        assert!(cpu_time(std::process::id()).unwrap() > before);
    }
}
