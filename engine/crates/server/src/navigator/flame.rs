//! Flame graphs as the protocol has them.

use fulcrum_paths::{Boxes, FlameTree, MergedSide, Painted, Refusal, View, Width};

use super::search_snapshot::SearchSnapshot;
use crate::protocol::failure::Failure;
use crate::protocol::{
    NavigatorFlame, NavigatorFlameParams, NavigatorFlameSearchParams, NavigatorFlameSearchResult,
    NavigatorFlameSide, NavigatorFlameWhat, NavigatorFlameWidth, NavigatorSides,
};

/// What the box of the whole tree is called.
const ALL: &str = "all";

/// A screen has fewer pixels than that: boxes may not be narrower than this part of what is seen.
const FINEST: f64 = 20_000.0;

/// Levels in an answer: at most, and when nothing is said.
const MOST_DEPTHS: u32 = 1_000;
const DEPTHS: u32 = 200;

/// Names in an answer to a search.
const MOST_NAMES: usize = 100;

/// The boxes that can be seen.
pub(crate) fn flame(
    navigator: &SearchSnapshot,
    params: &NavigatorFlameParams,
) -> Result<NavigatorFlame, Failure> {
    let view = view(params)?;
    let tree = navigator.tree()?;
    let (boxes, trail, trail_nodes) = match &params.what {
        NavigatorFlameWhat::Tree { root } => {
            let root = known(tree, *root)?;
            let (trail, nodes) = trail(tree, root);
            (tree.boxes(root, &view), trail, nodes)
        }
        NavigatorFlameWhat::Merged { path, side, along } => {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let outwards: Vec<&str> = along.iter().map(String::as_str).collect();
            let side = match side {
                NavigatorFlameSide::Callers => MergedSide::Callers,
                NavigatorFlameSide::Callees => MergedSide::Callees,
            };
            let absent = || {
                let all = names.iter().chain(&outwards).map(|&it| it.into());
                let refusal = Refusal::Absent {
                    path: all.collect(),
                };
                Failure::user(refusal.to_string(), None)
            };
            let last = path.last().ok_or_else(absent)?;
            let merged = navigator.merged(tree, path, side, view.width);
            let merged = merged.ok_or_else(absent)?;
            let boxes = merged.boxes(&outwards, &view).ok_or_else(absent)?;
            let trail = [last].into_iter().chain(along).cloned().collect();
            (boxes, trail, Vec::new())
        }
    };
    let (painted, labels) = navigator.labels(tree);
    let merged = matches!(params.what, NavigatorFlameWhat::Merged { .. });
    Ok(answer(
        tree,
        boxes,
        Answer {
            trail,
            trail_nodes,
            painted: &painted,
            labels,
            merged,
        },
    ))
}

fn view(params: &NavigatorFlameParams) -> Result<View, Failure> {
    let within = |it: f64| (0.0..=1.0).contains(&it);
    if !(within(params.left) && within(params.right) && params.left < params.right) {
        return Err(Failure::user(
            format!(
                "expected a part between 0 and 1 of the flame graph, got {} to {}",
                params.left, params.right
            ),
            None,
        ));
    }
    let finest = (params.right - params.left) / FINEST;
    Ok(View {
        width: match params.width.unwrap_or_default() {
            NavigatorFlameWidth::A => Width::A,
            NavigatorFlameWidth::B => Width::B,
            NavigatorFlameWidth::Change => Width::Change,
        },
        left: params.left,
        right: params.right,
        // Not a number is no minimum, either.
        minimum: params.minimum.max(finest),
        from_depth: params.from_depth.unwrap_or(0),
        depths: params.depths.unwrap_or(DEPTHS).min(MOST_DEPTHS),
    })
}

fn known(tree: &FlameTree, root: Option<u32>) -> Result<Option<u32>, Failure> {
    match root {
        Some(node) if node >= tree.len() => Err(Failure::user(
            format!("there is no node {node}: the tree has {}", tree.len()),
            None,
        )),
        root => Ok(root),
    }
}

/// The names and nodes from the whole tree to a node.
fn trail(tree: &FlameTree, root: Option<u32>) -> (Vec<String>, Vec<Option<u32>>) {
    let mut nodes: Vec<Option<u32>> = std::iter::successors(root, |&n| tree.parent(n))
        .map(Some)
        .collect();
    nodes.push(None);
    nodes.reverse();
    let name = |n: &Option<u32>| n.map_or(ALL, |n| tree.title(tree.key(n))).to_owned();
    (nodes.iter().map(name).collect(), nodes)
}

struct Answer<'a> {
    trail: Vec<String>,
    trail_nodes: Vec<Option<u32>>,
    painted: &'a Painted,
    labels: Vec<String>,
    merged: bool,
}

fn answer(tree: &FlameTree, boxes: Boxes, with: Answer<'_>) -> NavigatorFlame {
    let comparison = tree.is_comparison();
    let (total, against) = (
        boxes.a.first().copied().unwrap_or(0),
        boxes.b.first().copied().unwrap_or(0),
    );
    let (mut names, mut containers) = (Vec::new(), Vec::new());
    // By key; the last is that of the whole tree.
    let mut numbers = vec![None; tree.keys() + 1];
    let name = boxes.key.iter().map(|&key| {
        let number = &mut numbers[key.map_or(tree.keys(), |key| key as usize)];
        *number.get_or_insert_with(|| {
            if key.is_some_and(|key| key as usize >= tree.functions()) {
                containers.push(names.len() as u32);
            }
            names.push(key.map_or(ALL, |key| tree.title(key)).to_owned());
            names.len() as u32 - 1
        })
    });
    let name = name.collect();
    let label = |n: &Option<u32>| n.map_or(-1, |n| i32::from(with.painted.label(n)) - 1);
    let minus_one = |it: &Option<u32>| it.map_or(-1, |it| it as i32);
    NavigatorFlame {
        names,
        containers,
        label: boxes.sample.iter().map(label).collect(),
        labels: with.labels,
        trail: with.trail,
        trail_nodes: with.trail_nodes,
        total,
        sides: comparison.then_some(NavigatorSides {
            a: total,
            b: against,
        }),
        levels: boxes.levels,
        depth: boxes.depth,
        x: boxes.x.into_iter().map(short).collect(),
        width: boxes.width.into_iter().map(short).collect(),
        name,
        node: match with.merged {
            true => Vec::new(),
            false => boxes
                .node
                .iter()
                .map(|it| it.map_or(-1, i64::from))
                .collect(),
        },
        parent: boxes.parent.iter().map(minus_one).collect(),
        cost: boxes.a,
        own: boxes.own,
        against: comparison.then_some(boxes.b),
    }
}

/// Twelve digits: fewer bytes, and far below a pixel.
fn short(fraction: f64) -> f64 {
    (fraction * 1e12).round() / 1e12
}

/// What a text matches.
pub(crate) fn search(
    navigator: &SearchSnapshot,
    params: &NavigatorFlameSearchParams,
) -> Result<NavigatorFlameSearchResult, Failure> {
    let tree = navigator.tree()?;
    let root = known(tree, params.root)?;
    let found = tree.matches(&params.text, root);
    let cost = found.a - found.b;
    let comparison = tree.is_comparison();
    // The difference of two sides may be next to nothing: those shares are of what the Navigator's are.
    let total = match comparison {
        true => navigator.search.whole().cost,
        false => root.map_or(tree.a(0, tree.len()), |n| tree.a(n, tree.end(n))),
    };
    Ok(NavigatorFlameSearchResult {
        count: found.names.len() as u32,
        names: found.names.into_iter().take(MOST_NAMES).collect(),
        cost,
        share: (total != 0).then(|| cost as f64 / total as f64),
        sides: comparison.then_some(NavigatorSides {
            a: found.a,
            b: found.b,
        }),
    })
}
