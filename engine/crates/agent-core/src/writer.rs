//! Writes one thread's events, with its clock and its meters.

use fulcrum_event_log::ThreadWriter;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

use crate::clock::ThreadClock;
use crate::metering::{Metering, Meters};

/// The ticks, and the CPU time if it did not advance like the clock.
pub type Stamp = (u64, Option<u64>);

/// An event of a method, for [`Writer::method_with`].
#[derive(Clone, Copy, Debug)]
pub struct MethodEvent {
    /// One of [`kind`].
    pub kind: u8,
    /// The method's number.
    pub method: u32,
    /// When it happened.
    pub stamp: Stamp,
}

/// Writes a thread's events.
pub struct Writer {
    stream: ThreadWriter,
    clock: ThreadClock,
    /// Observed calls that the thread is in, also those deeper than `deepest`, which are not logged.
    depth: u32,
    deepest: u32,
    /// Calls that were not logged since the last event.
    skipped: u64,
    meters: Meters,
}

impl Writer {
    /// For the calling thread. Calls inside more than `deepest` observed ones are counted and not logged.
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

    /// The stream that it writes to.
    pub fn stream(&mut self) -> &mut ThreadWriter {
        &mut self.stream
    }

    /// The stream that it wrote to.
    pub fn into_stream(self) -> ThreadWriter {
        self.stream
    }

    /// How many observed calls inside one another are logged.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The thread's clock.
    pub fn clock(&self) -> &ThreadClock {
        &self.clock
    }

    /// Continues with the clock of another thread, which calls this.
    pub fn set_clock(&mut self, clock: ThreadClock) {
        self.clock = clock;
    }

    /// What the thread's calls cost.
    pub fn meters(&mut self) -> &mut Meters {
        &mut self.meters
    }

    /// Counts a call whose probes fire and that is not logged.
    #[inline]
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Writes an event that has no method.
    pub fn event(&mut self, kind: u8, payload: &PayloadBuffer) {
        let (ticks, _) = self.write(kind, Body::Payload(payload.as_bytes()));
        match kind {
            kind::CONTENDED_ENTER => self.meters.contention_begins(ticks),
            kind::CONTENDED_ENTERED => self.meters.contention_ends(ticks),
            _ => {}
        }
    }

    /// Writes the thread's start, its first event, which happened at `ticks` or later.
    pub fn begins(&mut self, ticks: u64, payload: &PayloadBuffer) {
        let (now, cpu) = self.clock.stamp();
        let body = Body::Payload(payload.as_bytes());
        let cpu = cpu.or_else(|| Some(crate::clock::thread_cpu()));
        self.stream
            .write(kind::THREAD_START, ticks.min(now), cpu, 0, body);
        self.meters.set_cpu(now, cpu.unwrap_or(0));
    }

    /// Writes something now. Returns when.
    fn write(&mut self, kind: u8, body: Body<'_>) -> (u64, Option<u64>) {
        let stamp = self.clock.stamp();
        self.write_at(stamp, kind, body);
        stamp
    }

    /// Writes something that happened at a stamp, which must be the latest of the clock.
    fn write_at(&mut self, (ticks, cpu): Stamp, kind: u8, body: Body<'_>) {
        let skipped = std::mem::take(&mut self.skipped);
        self.stream.write(kind, ticks, cpu, skipped, body);
        if let Some(cpu) = cpu {
            let cpu = self.stream.cpu_offset().saturating_add_unsigned(cpu);
            self.meters.set_cpu(ticks, cpu.max(0).cast_unsigned());
        }
    }

    /// Reads the clock, for [`Self::method_with`] a little later: the time in between belongs to whatever follows.
    pub fn stamp(&self) -> Stamp {
        self.clock.stamp()
    }

    /// Writes an event of a method with its objects or values, which follow an entry and precede an exit. Meters it when
    /// there is a rule.
    pub fn method_with(
        &mut self,
        metering: Option<&Metering>,
        event: MethodEvent,
        (of, objects): (u8, &PayloadBuffer),
    ) {
        let MethodEvent {
            kind,
            method,
            stamp,
        } = event;
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

    /// Writes an event of a method and meters it. `true` when the method's gate must be shut.
    pub fn metered(&mut self, metering: &Metering, kind: u8, method: u32) -> bool {
        let ticks = self.method(kind, method);
        ticks.is_some_and(|ticks| self.meters.call(metering, kind, method, ticks))
    }

    /// Writes an event of a method if that can be done at once; otherwise does nothing.
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
        // The log counts what it has no room for.
        self.stream.write_method(kind, ticks, method);
        true
    }

    /// Writes an event of a method. Returns the ticks if it was logged.
    pub fn method(&mut self, kind: u8, method: u32) -> Option<u64> {
        self.logs(kind)
            .then(|| self.write(kind, Body::Method(method)).0)
    }

    /// Counts an entry or an exit. Returns whether it is logged.
    fn logs(&mut self, kind: u8) -> bool {
        if kind == kind::ENTER {
            self.depth = self.depth.saturating_add(1);
            if self.depth > self.deepest {
                self.skipped += 1;
                return false;
            }
        } else {
            // A call that was entered before the log began may be left in it.
            let left = self.depth;
            self.depth = left.saturating_sub(1);
            if left > self.deepest {
                return false;
            }
        }
        true
    }
}
