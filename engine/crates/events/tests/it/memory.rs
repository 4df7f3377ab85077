//! Memory does not grow with the number of events.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fulcrum_model::Progress;

use crate::common::{create, define, now, open, start};
use fulcrum_wire::log::{Body, kind};

struct Counting;

thread_local! {
    /// Bytes that the thread has allocated and not freed, and the most of them: what the tests' own threads do is theirs.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get() + layout.size() as isize;
        LIVE.set(live);
        PEAK.set(PEAK.get().max(live));
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_million_events_need_no_more_memory_than_a_few() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, 1 << 30);
    drop(define(&log, 5));
    let mut streams = [log.stream(2), log.stream(3), log.stream(4)];
    for stream in &mut streams {
        start(stream, "busy");
    }
    let before = LIVE.get();
    for n in 0..500_000_u32 {
        let stream = &mut streams[n as usize % 3];
        stream.write(kind::ENTER, now().ticks, None, 0, Body::Method(n % 5));
        stream.write(kind::EXIT, now().ticks, None, 0, Body::Method(n % 5));
    }
    assert_eq!(LIVE.get(), before, "writing allocates nothing");
    drop(streams);
    log.finish();
    PEAK.set(before);
    let trace = open(&path);
    assert_eq!(trace.events().count(), 1_000_003);
    let stats = fulcrum_events::stats(&trace, |_| true);
    assert_eq!(
        (
            stats.methods.len(),
            stats.methods[0].calls,
            stats.unbalanced
        ),
        (5, 100_000, 0)
    );
    let peak = PEAK.get() - before;
    assert!(peak < 512 << 10, "{peak} bytes");

    // Adding up, exporting, and the index, which is what a look at a million events needs.
    let query =
        fulcrum_events::query::Query::parse("group by method select count, p99(wall)").unwrap();
    let scope = fulcrum_events::TraceRange::default();
    let mut rows = 0;
    let answered = query.run(&trace, &scope, &Progress::default(), &mut |_| {
        rows += 1;
        std::ops::ControlFlow::Continue(())
    });
    // Five methods, and what is no call.
    assert_eq!((answered.unwrap().rows, rows), (6, 6));
    fulcrum_events::export::perfetto(&trace, &scope, &Progress::default(), &mut std::io::sink())
        .unwrap();
    fulcrum_events::export::chrome(&trace, &scope, &Progress::default(), &mut std::io::sink())
        .unwrap();
    let index = fulcrum_events::Index::build(&trace, &Progress::default()).unwrap();
    assert_eq!(index.events, 1_000_003);
    let peak = PEAK.get() - before;
    assert!(peak < 2 << 20, "{peak} bytes");
}
