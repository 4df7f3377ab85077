//! What a timeline shows is what the threads did.

use crate::common::shop::{Writer, name_methods, shop, trace};
use fulcrum_events::{Index, Indexed, Lane, State, Trace, View};
use fulcrum_model::Progress;
use fulcrum_stats::Random;

#[test]
fn timelines_say_what_most_of_a_pixel_was() {
    let trace = shop();
    let of = Indexed::new(trace, &Progress::default()).unwrap();
    let view = |left_ns, right_ns, width, depths| View {
        left_ns,
        right_ns,
        width,
        depths,
    };
    let lane = of
        .lane(3, &view(1000, 2000, 10, 2), &Progress::default())
        .unwrap()
        .unwrap();
    let states: Vec<_> = lane
        .states
        .iter()
        .map(|it| (it.from_ns, it.to_ns, it.state))
        .collect();
    assert_eq!(
        states,
        [
            (1000, 1300, State::Running),
            (1300, 1600, State::Contended),
            (1600, 2000, State::Running)
        ]
    );
    let bars: Vec<_> = lane
        .calls
        .iter()
        .map(|it| (it.start_ns, it.end_ns, it.depth))
        .collect();
    // `parse` is one pixel wide.
    assert_eq!(bars, [(1000, 4000, 0), (1300, 1600, 1)]);
    assert_eq!(lane.levels, 2);
    // From far away a contention of 300 ns in 10 µs is none; the thread is not there at the end.
    let lane = of
        .lane(3, &view(0, 20_000, 2, 0), &Progress::default())
        .unwrap()
        .unwrap();
    let states: Vec<_> = lane
        .states
        .iter()
        .map(|it| (it.from_ns, it.to_ns, it.state))
        .collect();
    assert_eq!(states, [(0, 8000, State::Running)]);
    assert!(lane.calls.is_empty());
    assert!(
        of.lane(9, &view(0, 1, 1, 0), &Progress::default())
            .unwrap()
            .is_none()
    );
}

/// Half a millisecond of calls, then half a millisecond that is contended but for 40 ns in about 1000, and so on: the trace,
/// and where each phase ends. One call or contention of each phase is so long that it is seen as such.
fn phases() -> (Trace, Vec<u64>) {
    let mut ends = Vec::new();
    let trace = trace(|log| {
        name_methods(log, &[(1, "shop.Cart", "add")]);
        let mut writer = Writer::new(log, 2, "busy");
        let mut random = Random::new(3);
        let mut at = 0;
        for phase in 0..40 {
            for pair in 0..500 {
                let length = if pair == 250 {
                    60_000
                } else {
                    500 + random.below(1000)
                };
                let inside = (at + 20, at + length - 20);
                match phase % 2 {
                    0 => writer.call(inside.0, inside.1, 1),
                    _ => writer.contended(inside.0, inside.1, 7),
                }
                at += length;
            }
            ends.push(at);
        }
    });
    (trace, ends)
}

/// What is shown at a time.
fn shown(lane: &Lane, ns: u64) -> Option<State> {
    let found = lane
        .states
        .iter()
        .find(|it| (it.from_ns..it.to_ns).contains(&ns));
    found.map(|it| it.state)
}

#[test]
fn timelines_are_the_same_from_the_index_and_from_the_events() {
    let of = |interval| {
        let (trace, ends) = phases();
        let index = Index::with_interval(&trace, interval, &Progress::default()).unwrap();
        (Indexed { trace, index }, ends)
    };
    let ((fine, ends), (whole, _)) = (of(64), of(u64::MAX));
    let all = *ends.last().unwrap();
    // A checkpoint is about 32 µs behind the one before: the more pixels there are, the more of them are read and not summed.
    for pixel_ns in [40_000, 12_000, 8000, 500] {
        let view = View {
            left_ns: 0,
            right_ns: all,
            width: (all / pixel_ns) as u32,
            depths: 3,
        };
        let lanes =
            [&fine, &whole].map(|it| it.lane(2, &view, &Progress::default()).unwrap().unwrap());
        assert_eq!(lanes[0].calls, lanes[1].calls, "{pixel_ns}");
        if pixel_ns == 500 {
            // No two checkpoints are within three pixels: everything is read.
            assert_eq!(lanes[0].states, lanes[1].states);
        }
        // Sums are spread over fewer than three pixels, so nothing is farther from where it was than three pixels and the
        // one that it is drawn in.
        let near = 4 * pixel_ns;
        let mut seen = 0;
        for (phase, end) in ends.iter().enumerate() {
            let start = if phase == 0 { 0 } else { ends[phase - 1] };
            let expect = [State::Running, State::Contended][phase % 2];
            for at in (start + near..end.saturating_sub(near)).step_by(pixel_ns as usize) {
                for lane in &lanes {
                    assert_eq!(shown(lane, at), Some(expect), "{at} in {pixel_ns}");
                }
                seen += 1;
            }
        }
        assert!(seen > 40, "{seen}");
    }
}
