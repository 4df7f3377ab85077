//! Small logs whose every time is chosen: no clock is asked.

use std::path::Path;
use std::sync::Arc;

use fulcrum_event_log::{Log, Moment, Options, ThreadWriter};
use fulcrum_events::Trace;
use fulcrum_wire::log::{
    Body, DICTIONARY, PLAIN_VERSION, PayloadBuffer, Value, cpu_clock, kind, result,
};

/// A log whose ticks are nanoseconds, and start at 0.
pub(crate) fn create(path: &Path) -> Arc<Log> {
    fn zero() -> Moment {
        Moment::default()
    }
    let options = Options {
        limit: 1 << 30,
        pid: 1,
        unix_ns: 0,
        cpu_clock: cpu_clock::RUNS,
        version: PLAIN_VERSION,
        now: zero,
    };
    Log::create(path, &options).unwrap()
}

pub(crate) struct Writer(ThreadWriter);

impl Writer {
    pub(crate) fn new(log: &Arc<Log>, thread: u32, name: &str) -> Writer {
        let mut stream = log.stream(thread);
        let payload = PayloadBuffer::default()
            .number(0)
            .number(0)
            .text(name)
            .text("main");
        stream.write(
            kind::THREAD_START,
            0,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        );
        Writer(stream)
    }

    pub(crate) fn enter(&mut self, at: u64, method: u32) {
        assert!(self.0.write(kind::ENTER, at, None, 0, Body::Method(method)));
    }

    pub(crate) fn exit(&mut self, at: u64, method: u32) {
        assert!(self.0.write(kind::EXIT, at, None, 0, Body::Method(method)));
    }

    pub(crate) fn call(&mut self, from: u64, to: u64, method: u32) {
        self.enter(from, method);
        self.exit(to, method);
    }

    pub(crate) fn thrown(&mut self, from: u64, to: u64, method: u32) {
        self.enter(from, method);
        assert!(
            self.0
                .write(kind::THROWN, to, None, 0, Body::Method(method))
        );
    }

    /// A call on an object, with one as its argument, which returns one.
    pub(crate) fn call_with(
        &mut self,
        times: [u64; 2],
        method: u32,
        [on, given]: [u64; 2],
        result: u64,
    ) {
        self.enter(times[0], method);
        self.payload(kind::OBJECTS, times[0], &[u64::from(method), on, given]);
        let result = [u64::from(method), result::OBJECT, result];
        self.payload(kind::RESULT, times[1], &result);
        self.exit(times[1], method);
    }

    /// A call that returns yes or no.
    pub(crate) fn call_that_says(
        &mut self,
        times: [u64; 2],
        method: u32,
        [on, given]: [u64; 2],
        yes: bool,
    ) {
        self.enter(times[0], method);
        self.payload(kind::OBJECTS, times[0], &[u64::from(method), on, given]);
        let result = [u64::from(method), result::BOOLEAN, u64::from(yes)];
        self.payload(kind::RESULT, times[1], &result);
        self.exit(times[1], method);
    }

    /// A call is left by an exception.
    pub(crate) fn throws(&mut self, at: u64, method: u32) {
        assert!(
            self.0
                .write(kind::THROWN, at, None, 0, Body::Method(method))
        );
    }

    /// A call enters, with these values.
    pub(crate) fn enter_with(&mut self, at: u64, method: u32, all: u64, values: &[Value<'_>]) {
        self.enter(at, method);
        let mut payload = PayloadBuffer::default().number(u64::from(method));
        payload = payload.number(all).number(values.len() as u64);
        values.iter().for_each(|it| payload.put(it));
        self.event(kind::ARGUMENTS, at, &payload);
    }

    /// A call returns a value.
    pub(crate) fn exit_with(&mut self, at: u64, method: u32, value: &Value<'_>) {
        let mut payload = PayloadBuffer::default().number(u64::from(method));
        payload.put(value);
        self.event(kind::RETURNED, at, &payload);
        self.exit(at, method);
    }

    /// An event of any kind.
    pub(crate) fn event(&mut self, kind: u8, at: u64, payload: &PayloadBuffer) {
        let body = Body::Payload(payload.as_bytes());
        assert!(self.0.write(kind, at, None, 0, body));
    }

    fn payload(&mut self, kind: u8, at: u64, numbers: &[u64]) {
        let payload = numbers
            .iter()
            .fold(PayloadBuffer::default(), |payload, it| payload.number(*it));
        let body = Body::Payload(payload.as_bytes());
        assert!(self.0.write(kind, at, None, 0, body));
    }

    pub(crate) fn contended(&mut self, from: u64, to: u64, object: u64) {
        let payload = PayloadBuffer::default().number(object).number(3);
        for (kind, at) in [(kind::CONTENDED_ENTER, from), (kind::CONTENDED_ENTERED, to)] {
            self.0
                .write(kind, at, None, 0, Body::Payload(payload.as_bytes()));
        }
    }
}

pub(crate) fn name_methods(log: &Arc<Log>, methods: &[(u32, &str, &str)]) {
    let mut stream = log.stream(DICTIONARY);
    for (id, class, name) in methods {
        let payload = PayloadBuffer::default()
            .number(u64::from(*id))
            .text(class)
            .text(name)
            .text("()V")
            .text("")
            .number(0);
        stream.write(
            kind::DEFINE_METHOD,
            0,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        );
    }
    let payload = PayloadBuffer::default().number(3).text("shop.Lock");
    stream.write(
        kind::DEFINE_CLASS,
        0,
        None,
        0,
        Body::Payload(payload.as_bytes()),
    );
}

/// A trace of what `write` writes.
pub(crate) fn trace(write: impl FnOnce(&Arc<Log>)) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path);
    write(&log);
    log.finish();
    let bytes = std::fs::read(&path).unwrap();
    let trace = Trace::from_bytes(bytes).unwrap();
    assert_eq!(trace.notes, [""; 0]);
    trace
}

/// Two workers: 2 calls of `serve`, in them `parse` (100 ns) and a contention (300 ns); and a `main` that waits.
pub(crate) fn shop() -> Trace {
    trace(|log| {
        name_methods(
            log,
            &[
                (1, "shop.Server", "serve"),
                (2, "shop.Parser", "parse"),
                (3, "shop.Main", "run"),
            ],
        );
        let mut main = Writer::new(log, 2, "main");
        main.call(0, 10_000, 3);
        for (thread, name) in [(3, "worker-1"), (4, "worker-2")] {
            let mut worker = Writer::new(log, thread, name);
            for n in 0..2 {
                let at = 1000 + 4000 * n;
                worker.enter(at, 1);
                worker.call(at + 100, at + 200, 2);
                worker.contended(at + 300, at + 600, 77);
                worker.exit(at + 1000 * u64::from(thread), 1);
            }
        }
    })
}
