//! `fulcrum/events/timeline`: what threads did over time, as far as it can be seen.

use std::collections::HashMap;

use fulcrum_events::{Bar, Node, State, Trace, View};
use fulcrum_model::Progress;

use crate::events::{OpenTrace, TreeNode};
use crate::protocol::failure::Failure;
use crate::protocol::{
    EventsCalls, EventsGetTimeline, EventsIntervals, EventsState, EventsStates, EventsTimeline,
    EventsTimelineParams, EventsTimelineThread, NodeId, ThreadId, TraceId,
};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

/// Threads in one answer.
const MOST_THREADS: usize = 200;

/// Levels of calls in one answer.
const MOST_DEPTHS: u32 = 100;

/// Pixels of the widest screen.
const WIDEST: u32 = 8_000;

pub(crate) enum Timeline {}

impl TraceReading for Timeline {
    type Method = EventsGetTimeline;

    fn trace(params: &EventsTimelineParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsTimelineParams,
        progress: &Progress,
    ) -> Result<EventsTimeline, Failure> {
        timeline(open, &params, progress)
    }
}

fn timeline(
    open: &OpenTrace,
    params: &EventsTimelineParams,
    progress: &Progress,
) -> Result<EventsTimeline, Failure> {
    if params.left_ns >= params.right_ns || params.width == 0 || params.width > WIDEST {
        return Err(Failure::user(
            format!("expected leftNs before rightNs, and a width from 1 to {WIDEST}"),
            None,
        ));
    }
    let view = View {
        left_ns: params.left_ns,
        right_ns: params.right_ns,
        width: params.width,
        depths: params.depths.unwrap_or(0).min(MOST_DEPTHS),
    };
    let indexed = &open.indexed;
    let all = || {
        let threads = indexed.trace.threads.iter();
        threads.map(|it| ThreadId(it.id)).collect()
    };
    let wanted: Vec<ThreadId> = params.threads.clone().unwrap_or_else(all);
    let mut names = Names::default();
    let mut threads = Vec::new();
    for id in wanted.into_iter().take(MOST_THREADS) {
        let lane = indexed.lane(id.0, &view, progress)?;
        let lane = lane.ok_or_else(|| TreeNode::new(id, None).absent())?;
        let mut states = EventsStates::default();
        for it in &lane.states {
            states.start_ns.push(it.from_ns);
            states.end_ns.push(it.to_ns);
            states.cpu.push(it.cpu.unwrap_or(-1.0));
            states.state.push(match it.state {
                State::Running => EventsState::Running,
                State::Contended => EventsState::Contended,
                State::Waiting => EventsState::Waiting,
                State::Parked => EventsState::Parked,
            });
        }
        threads.push(EventsTimelineThread {
            id,
            states,
            calls: calls(&indexed.trace, &lane.calls, &mut names),
            levels: lane.levels,
        });
    }
    Ok(EventsTimeline {
        threads,
        collections: collections(&indexed.index.collections, &view),
        names: names.texts,
    })
}

#[derive(Default)]
struct Names {
    texts: Vec<String>,
    known: HashMap<Node, u32>,
}

fn calls(trace: &Trace, bars: &[Bar], names: &mut Names) -> EventsCalls {
    let mut calls = EventsCalls::default();
    // Level by level, from left to right.
    let mut bars: Vec<&Bar> = bars.iter().collect();
    bars.sort_by_key(|it| (it.depth, it.start_ns));
    for bar in bars {
        // Objects are not told apart here.
        let what = match bar.what {
            Node::Contended { class, .. } => Node::Contended { object: 0, class },
            Node::Waiting { class, .. } => Node::Waiting { object: 0, class },
            what => what,
        };
        let texts = &mut names.texts;
        let name = *names.known.entry(what).or_insert_with(|| {
            texts.push(match what {
                Node::Call { method } => trace.method_name(method),
                Node::Contended { class, .. } => format!("contended {}", trace.class_name(class)),
                Node::Waiting { class, .. } => format!("wait {}", trace.class_name(class)),
                Node::Collection => "garbage collection".into(),
            });
            texts.len() as u32 - 1
        });
        calls.start_ns.push(bar.start_ns);
        calls.end_ns.push(bar.end_ns);
        calls.depth.push(bar.depth);
        calls.name.push(name);
        calls.node.push(NodeId(bar.node));
    }
    calls
}

/// The collections in view; those less than a pixel apart are shown as one.
fn collections(all: &[(u64, u64)], view: &View) -> EventsIntervals {
    let pixel = (view.right_ns - view.left_ns) / u64::from(view.width);
    let mut seen = EventsIntervals::default();
    for (start, end) in all {
        if *end < view.left_ns || *start > view.right_ns {
            continue;
        }
        match seen.end_ns.last_mut() {
            Some(last) if start.saturating_sub(*last) < pixel => *last = (*end).max(*last),
            _ => {
                seen.start_ns.push(*start);
                seen.end_ns.push(*end);
            }
        }
    }
    seen
}
