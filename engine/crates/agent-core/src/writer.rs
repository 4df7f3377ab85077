//! One thread's way into the log, with its clock and its meters.

use fulcrum_event_log::ThreadWriter;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

use crate::clock::ThreadClock;
use crate::metering::{Metering, Meters};

/// Ticks, and the CPU time when that did not just go on.
pub type Stamp = (u64, Option<u64>);

/// Writes a thread's events.
pub struct Writer {
    stream: ThreadWriter,
    clock: ThreadClock,
    /// Logged calls that the thread is inside of, and those that are not logged for being deeper than `deepest`.
    depth: u32,
    deepest: u32,
    /// Calls since the last event that were not logged.
    skipped: u64,
    meters: Meters,
}

impl Writer {
    /// For the calling thread; calls deeper than so many observed ones are counted and not logged.
    pub fn new(stream: ThreadWriter, deepest: u32) -> Writer {
        Writer {
            stream,
            clock: ThreadClock::here(),
            depth: 0,
            deepest,
            skipped: 0,
            meters: Meters::default(),
        }
    }

    /// Where it writes.
    pub fn stream(&mut self) -> &mut ThreadWriter {
        &mut self.stream
    }

    /// Where it wrote.
    pub fn into_stream(self) -> ThreadWriter {
        self.stream
    }

    /// So many observed calls inside one another are logged.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The thread's clock.
    pub fn clock(&self) -> &ThreadClock {
        &self.clock
    }

    /// It goes on in the calling thread.
    pub fn set_clock(&mut self, clock: ThreadClock) {
        self.clock = clock;
    }

    /// What the thread's calls cost.
    pub fn meters(&mut self) -> &mut Meters {
        &mut self.meters
    }

    /// A call whose probes fire and that is not logged.
    #[inline]
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Writes an event that has no method.
    pub fn event(&mut self, kind: u8, payload: &PayloadBuffer) {
        let (ticks, _) = self.write(kind, Body::Payload(payload.as_bytes()));
        if matches!(kind, kind::CONTENDED_ENTER | kind::CONTENDED_ENTERED) {
            self.meters.contends(kind == kind::CONTENDED_ENTER, ticks);
        }
    }

    /// Writes the thread's beginning, its first event, which was at `ticks` or later.
    pub fn begins(&mut self, ticks: u64, payload: &PayloadBuffer) {
        let (now, cpu) = self.clock.stamp();
        let body = Body::Payload(payload.as_bytes());
        let cpu = cpu.or_else(|| Some(crate::clock::thread_cpu()));
        self.stream
            .write(kind::THREAD_START, ticks.min(now), cpu, 0, body);
        self.meters.set_cpu(now, cpu.unwrap_or(0));
    }

    /// When it was written, and the CPU time when that did not just go on.
    fn write(&mut self, kind: u8, body: Body<'_>) -> (u64, Option<u64>) {
        let stamp = self.clock.stamp();
        self.write_at(stamp, kind, body);
        stamp
    }

    /// Writes what was when the clock was asked for `ticks` and `cpu`: it was asked for nothing since.
    fn write_at(&mut self, (ticks, cpu): Stamp, kind: u8, body: Body<'_>) {
        let skipped = std::mem::take(&mut self.skipped);
        self.stream.write(kind, ticks, cpu, skipped, body);
        if let Some(cpu) = cpu {
            let cpu = self.stream.cpu_offset().saturating_add_unsigned(cpu);
            self.meters.set_cpu(ticks, cpu.max(0).cast_unsigned());
        }
    }

    /// Asks the clock, for [`Self::method_with`] a little later: what is in between counts to what comes next.
    pub fn stamp(&self) -> Stamp {
        self.clock.stamp()
    }

    /// Writes an event of a method that was at `stamp`, and its objects: behind an entry, before an exit. It is metered when
    /// there is a rule.
    pub fn method_with(
        &mut self,
        metering: Option<&Metering>,
        kind: u8,
        method: u32,
        stamp: Stamp,
        (of, objects): (u8, &PayloadBuffer),
    ) {
        if !self.logs(kind) {
            return;
        }
        let objects = Body::Payload(objects.as_bytes());
        let (first, second) = match kind {
            kind::ENTER => ((kind, Body::Method(method)), (of, objects)),
            _ => ((of, objects), (kind, Body::Method(method))),
        };
        self.write_at(stamp, first.0, first.1);
        self.write_at(stamp, second.0, second.1);
        if let Some(metering) = metering {
            self.meters.call(metering, kind, method, stamp.0);
        }
    }

    /// Writes an event of a method and meters it. `true` when the method's gate is to be shut.
    pub fn metered(&mut self, metering: &Metering, kind: u8, method: u32) -> bool {
        let ticks = self.method(kind, method);
        ticks.is_some_and(|ticks| self.meters.call(metering, kind, method, ticks))
    }

    /// Writes an event of a method when that can be done at once; otherwise nothing has happened.
    #[inline(always)]
    pub fn fast(&mut self, kind: u8, method: u32) -> bool {
        if self.skipped > 0 {
            return false;
        }
        let depth = match kind {
            kind::ENTER if self.depth >= self.deepest => return false,
            kind::ENTER => self.depth + 1,
            _ if self.depth > self.deepest => return false,
            _ => self.depth.saturating_sub(1),
        };
        let Some(ticks) = self.clock.undisturbed() else {
            return false;
        };
        self.depth = depth;
        // What finds no place is counted by the log.
        self.stream.write_method(kind, ticks, method);
        true
    }

    /// Writes an event of a method. When it was written, ticks, if it was.
    pub fn method(&mut self, kind: u8, method: u32) -> Option<u64> {
        self.logs(kind)
            .then(|| self.write(kind, Body::Method(method)).0)
    }

    /// Counts an entry or an exit. Whether it is logged.
    fn logs(&mut self, kind: u8) -> bool {
        if kind == kind::ENTER {
            self.depth = self.depth.saturating_add(1);
            if self.depth > self.deepest {
                self.skipped += 1;
                return false;
            }
        } else {
            // What was entered before the log began is left in it.
            let left = self.depth;
            self.depth = left.saturating_sub(1);
            if left > self.deepest {
                return false;
            }
        }
        true
    }
}
