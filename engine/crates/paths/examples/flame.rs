//! How long flame graphs take on a generated profile: `cargo run --release --example flame -- 10000000`.

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Instant;

use fulcrum_paths::{
    AnyProfile, CallTreeProfile, ComparativeProfile, FlameTree, Merged, MergedSide,
    ProfileInterface as _, Suggester, View, Width,
};

/// A box of a pixel on a screen of 2,000.
const PIXEL: f64 = 1.0 / 2_000.0;

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    println!("{what:40} {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let nodes = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let pair = support::planted::planted(1, nodes.unwrap_or(1_000_000));
    println!("{} and {} nodes", pair.a.len(), pair.b.len());
    let single = CallTreeProfile::new(pair.a.clone(), 0);
    measure(&Arc::new(AnyProfile::Tree(single)));
    let both = ComparativeProfile::new((pair.a.clone(), 0), (pair.b.clone(), 0));
    measure(&Arc::new(AnyProfile::Comparison(
        both.expect("the same unit"),
    )));
}

fn measure(profile: &Arc<AnyProfile>) {
    let tree = timed("prepare", || FlameTree::new(profile)).expect("it has contexts");
    let view = View::whole(Width::A, PIXEL);
    let whole = timed("whole tree", || tree.boxes(None, &view));
    timed("whole tree again", || tree.boxes(None, &view));
    println!("{} boxes, {} levels", whole.depth.len(), whole.levels);
    let deep = View {
        left: 0.5,
        right: 0.501,
        minimum: PIXEL / 1_000.0,
        ..view
    };
    timed("a thousandth of it, as fine", || tree.boxes(None, &deep));
    let start = Instant::now();
    let zooms = whole
        .node
        .iter()
        .flatten()
        .step_by(whole.node.len().div_ceil(300));
    let mut slowest: f64 = 0.0;
    let mut count = 0;
    for &node in zooms {
        let start = Instant::now();
        tree.boxes(Some(node), &view);
        slowest = slowest.max(start.elapsed().as_secs_f64() * 1e3);
        count += 1;
    }
    let mean = start.elapsed().as_secs_f64() * 1e3 / f64::from(count);
    println!("{count} zooms: mean {mean:.1} ms, slowest {slowest:.1} ms");
    let all = Suggester::HighCum.suggest(&**profile);
    for side in [MergedSide::Callers, MergedSide::Callees] {
        let (mut slowest, mut of, mut sum, mut count) = (0.0, String::new(), 0.0, 0.0);
        for s in all.iter().step_by(all.len().div_ceil(200)) {
            let path = profile.path_of(s);
            let start = Instant::now();
            let merged = Merged::new(&tree, &path, side, Width::A).expect("it occurs");
            merged.boxes(&[], &view);
            let took = start.elapsed().as_secs_f64() * 1e3;
            (sum, count) = (sum + took, count + 1.0);
            if took > slowest {
                (slowest, of) = (took, path.join("; "));
            }
        }
        println!(
            "{side:?} of functions: mean {:.1} ms, slowest {slowest:.1} ms, {of}",
            sum / count
        );
    }
    timed("search \"a\"", || tree.matches("a", None));
    let labels: Vec<Vec<Vec<&str>>> = all
        .iter()
        .take(20)
        .map(|s| vec![profile.path_of(s)])
        .collect();
    timed("twenty labels", || tree.painted(&labels));
}
