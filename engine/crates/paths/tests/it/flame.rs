//! Flame graphs against a naive reading of the same trees, on random trees with recursion and negative costs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::{Naive, large_tree, random_tree, tree_of};
use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{Frame, NO_NODE};
use fulcrum_paths::{
    AnyProfile, Boxes, CallTreeProfile, ComparativeProfile, FlameTree, Merged, MergedSide,
    ProfileInterface as _, View, Width,
};
use fulcrum_stats::Random;

const BOTH: [MergedSide; 2] = [MergedSide::Callers, MergedSide::Callees];
const WIDTHS: [Width; 3] = [Width::A, Width::B, Width::Change];

fn alone(tree: &Arc<CallTree>) -> (Arc<AnyProfile>, FlameTree) {
    let profile = AnyProfile::Tree(CallTreeProfile::new(Arc::clone(tree), 0));
    let profile = Arc::new(profile);
    let flame = FlameTree::new(&profile).expect("a tree");
    (profile, flame)
}

/// The same, with what the steps of a search need.
fn prepared(tree: &Arc<CallTree>) -> (Arc<AnyProfile>, FlameTree) {
    let profile = CallTreeProfile::new(Arc::clone(tree), 0);
    profile.prepare_steps();
    let profile = Arc::new(AnyProfile::Tree(profile));
    let flame = FlameTree::new(&profile).expect("a tree");
    (profile, flame)
}

fn compared(a: &Arc<CallTree>, b: &Arc<CallTree>) -> (Arc<AnyProfile>, FlameTree) {
    let compared = ComparativeProfile::new((Arc::clone(a), 0), (Arc::clone(b), 0));
    let profile = Arc::new(AnyProfile::Comparison(compared.expect("the same unit")));
    let flame = FlameTree::new(&profile).expect("trees");
    (profile, flame)
}

/// Sums without signs and with them, of a node's subtree.
fn subtree(tree: &CallTree, n: u32) -> (i64, i64) {
    let nodes = n..tree.ends()[n as usize];
    let costs = nodes.map(|n| tree.values(0)[n as usize]);
    costs.fold((0, 0), |sum, it| (sum.0 + it.abs(), sum.1 + it))
}

/// What must hold of any boxes: what stands on a box fits on it, side by side, and nothing is too narrow.
fn check_places(boxes: &Boxes, view: &View) {
    let mut ends: BTreeMap<(u32, Option<u32>), f64> = BTreeMap::new();
    for n in 0..boxes.depth.len() {
        let (x, width) = (boxes.x[n], boxes.width[n]);
        assert!(
            width >= view.minimum || boxes.depth[n] == 0,
            "{n} is narrow"
        );
        assert!(x < view.right && x + width > view.left, "{n} is not seen");
        let Some(parent) = boxes.parent[n] else {
            continue;
        };
        let parent = parent as usize;
        assert!(parent < n && boxes.depth[parent] + 1 == boxes.depth[n]);
        let room = boxes.x[parent] + boxes.width[parent];
        assert!(
            x >= boxes.x[parent] - 1e-9 && x + width <= room + 1e-9,
            "{n} sticks out"
        );
        let end = ends.entry((boxes.depth[n], boxes.parent[n])).or_insert(x);
        assert!(x >= *end - 1e-9, "{n} overlaps");
        *end = x + width;
    }
}

#[test]
fn whole_trees_show_every_node_that_is_wide_enough_with_its_cost() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let tree = random_tree(&mut random, seed % 2 == 0);
        let (_, flame) = alone(&tree);
        let weight: i64 = tree.values(0).iter().map(|it| it.abs()).sum();
        for minimum in [0.0, 0.01, 0.1, 0.4] {
            let view = View::whole(Width::A, minimum);
            let boxes = flame.boxes(None, &view);
            check_places(&boxes, &view);
            let wide = |&n: &u32| {
                let part = subtree(&tree, n).0 as f64 / weight as f64;
                part >= minimum && part > 0.0
            };
            let expected: BTreeSet<u32> = (0..tree.len()).filter(wide).collect();
            let shown: BTreeSet<u32> = boxes.node.iter().flatten().copied().collect();
            assert_eq!(shown, expected, "seed {seed}, minimum {minimum}");
            assert_eq!(
                boxes.node.len(),
                expected.len() + 1,
                "each once, and the whole"
            );
            for (n, &node) in boxes.node.iter().enumerate() {
                let Some(node) = node else {
                    assert_eq!(boxes.a[n], tree.total(0));
                    continue;
                };
                let (size, cost) = subtree(&tree, node);
                assert_eq!(boxes.a[n], cost);
                assert_eq!(boxes.own[n], tree.values(0)[node as usize]);
                assert!((boxes.width[n] * weight as f64 - size as f64).abs() < 1e-6);
                let parent = boxes.parent[n].expect("all levels are wanted") as usize;
                let below = tree.parents()[node as usize];
                assert_eq!(boxes.node[parent], (below != NO_NODE).then_some(below));
            }
        }
    }
}

#[test]
fn a_part_of_the_view_is_that_part_of_the_whole_and_a_zoom_is_the_same_nodes_wider() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let tree = random_tree(&mut random, false);
        let (_, flame) = alone(&tree);
        let whole = flame.boxes(None, &View::whole(Width::A, 0.0));
        let view = View {
            left: 0.3,
            right: 0.5,
            from_depth: 1,
            depths: 2,
            ..View::whole(Width::A, 0.0)
        };
        let part = flame.boxes(None, &view);
        let seen = |n: &usize| {
            let (x, width) = (whole.x[*n], whole.width[*n]);
            x < 0.5 && x + width > 0.3
        };
        let expected: Vec<_> = (0..whole.depth.len())
            .filter(seen)
            .filter(|&n| (1..3).contains(&whole.depth[n]))
            .map(|n| (whole.node[n], whole.x[n], whole.width[n]))
            .collect();
        let shown: Vec<_> = (0..part.depth.len())
            .map(|n| (part.node[n], part.x[n], part.width[n]))
            .collect();
        assert_eq!(shown, expected, "seed {seed}");
        // A zoom into the first child of the whole.
        let Some(at) = (0..whole.depth.len()).find(|&n| whole.depth[n] == 1) else {
            continue;
        };
        let (x, width) = (whole.x[at], whole.width[at]);
        let zoomed = flame.boxes(whole.node[at], &View::whole(Width::A, 0.0));
        for n in 0..zoomed.depth.len() {
            let same = whole
                .node
                .iter()
                .position(|it| *it == zoomed.node[n])
                .expect("in the whole");
            assert!((whole.x[same] - (x + zoomed.x[n] * width)).abs() < 1e-9);
            assert_eq!(whole.depth[same], zoomed.depth[n] + 1);
        }
    }
}

/// The sums of a level by name.
fn level(flame: &FlameTree, boxes: &Boxes, depth: u32) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for n in (0..boxes.depth.len()).filter(|&n| boxes.depth[n] == depth) {
        let name = flame.title(boxes.key[n].expect("merged boxes have names"));
        *sums.entry(name.to_owned()).or_default() += boxes.a[n];
    }
    sums
}

#[test]
fn merged_paths_cost_what_the_search_says_and_their_callers_and_callees_add_up() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let tree = random_tree(&mut random, seed % 2 == 0);
        let (profile, flame) = alone(&tree);
        let naive = Naive(&tree);
        for path in naive.all(3) {
            let cum = naive.cum(std::slice::from_ref(&path));
            let s = profile.summary_of(&path).expect("it occurs");
            assert_eq!(profile.cum_of(&s), cum);
            for side in BOTH {
                let merged = Merged::new(&flame, &path, side, Width::A).expect("it occurs");
                let view = View::whole(Width::A, 0.0);
                let boxes = merged.boxes(&[], &view).expect("the path itself");
                check_places(&boxes, &view);
                assert_eq!(boxes.a[0], cum, "seed {seed}, {path:?}, {side:?}");
                let mut on = vec![0; boxes.a.len()];
                for n in 1..boxes.a.len() {
                    on[boxes.parent[n].expect("all levels") as usize] += boxes.a[n];
                }
                for (n, on) in on.iter().enumerate() {
                    assert_eq!(
                        boxes.own[n] + on,
                        boxes.a[n],
                        "seed {seed}, {path:?}, {side:?}"
                    );
                }
            }
            // What the outermost finals call, name by name.
            let mut finals: Vec<u32> = naive
                .paths(&path)
                .iter()
                .map(|it| it[it.len() - 1])
                .collect();
            finals.sort_unstable();
            let mut covered = 0;
            let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
            for &f in &finals {
                if f >= covered {
                    covered = tree.ends()[f as usize];
                    for child in tree.children(f) {
                        let (size, cost) = subtree(&tree, child);
                        let sum = expected.entry(tree.frame(child).name.clone()).or_default();
                        *sum = (sum.0 + size, sum.1 + cost);
                    }
                }
            }
            let expected: BTreeMap<String, i64> = expected
                .into_iter()
                .filter(|it| it.1.0 > 0)
                .map(|(name, (_, cost))| (name, cost))
                .collect();
            let merged =
                Merged::new(&flame, &path, MergedSide::Callees, Width::A).expect("it occurs");
            let boxes = merged
                .boxes(&[], &View::whole(Width::A, 0.0))
                .expect("the path");
            assert_eq!(level(&flame, &boxes, 1), expected, "seed {seed}, {path:?}");
        }
    }
}

/// A box of a merged path: its level, its name, its cost and its own cost.
type MergedBox = (u32, String, i64, i64);

/// The boxes of a merged name by the letter, each followed by those on it, the widest first.
fn merged_naively(tree: &CallTree, name: &str, side: MergedSide) -> Vec<MergedBox> {
    let (mut items, mut covered) = (Vec::new(), 0);
    for n in (0..tree.len()).filter(|&n| tree.frame(n).name == name) {
        if n >= covered {
            covered = tree.ends()[n as usize];
            items.push((n, subtree(tree, n)));
        }
    }
    let mut boxes = Vec::new();
    stack_naively(tree, side, (0, name), &items, &mut boxes);
    boxes
}

/// A node, and its cost without signs and with them.
type Item = (u32, (i64, i64));

fn stack_naively(
    tree: &CallTree,
    side: MergedSide,
    (depth, name): (u32, &str),
    items: &[Item],
    boxes: &mut Vec<MergedBox>,
) {
    let mut groups: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    for &(n, cost) in items {
        let next: Vec<Item> = match side {
            MergedSide::Callers => match tree.parents()[n as usize] {
                NO_NODE => Vec::new(),
                parent => vec![(parent, cost)],
            },
            MergedSide::Callees => {
                let below = tree.children(n);
                below.map(|child| (child, subtree(tree, child))).collect()
            }
        };
        for it in next {
            groups.entry(&tree.frame(it.0).name).or_default().push(it);
        }
    }
    let sum = |items: &[Item]| {
        let costs = items.iter().map(|it| it.1);
        costs.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    };
    let cost = sum(items).1;
    let on_it: i64 = groups.values().map(|it| sum(it).1).sum();
    boxes.push((depth, name.to_owned(), cost, cost - on_it));
    let mut groups: Vec<_> = groups.into_iter().filter(|it| sum(&it.1).0 > 0).collect();
    groups.sort_by_key(|it| std::cmp::Reverse(sum(&it.1).0));
    for (name, items) in groups {
        stack_naively(tree, side, (depth + 1, name), &items, boxes);
    }
}

#[test]
fn large_merged_paths_have_the_boxes_of_their_contexts() {
    for (seed, stacks) in [(0, 200), (1, 60_000), (2, 60_000)] {
        let tree = large_tree(&mut Random::new(seed), stacks, seed == 2);
        let flames = [alone(&tree).1, prepared(&tree).1];
        let frequent = (0..tree.len()).filter(|&n| tree.frame(n).name == "a");
        // From 8,000 contexts on, a second thread helps.
        let frequent = frequent.count();
        assert!(stacks == 200 || frequent > 16_000, "{frequent}");
        for (name, side) in ["a", "d"].map(|it| BOTH.map(|side| (it, side))).concat() {
            let expected = merged_naively(&tree, name, side);
            for flame in &flames {
                let merged = Merged::new(flame, &[name], side, Width::A).expect("it occurs");
                let view = View::whole(Width::A, 0.0);
                let boxes = merged.boxes(&[], &view).expect("the name itself");
                let title = |n: usize| flame.title(boxes.key[n].expect("a name")).to_owned();
                let found: Vec<_> = (0..boxes.depth.len())
                    .map(|n| (boxes.depth[n], title(n), boxes.a[n], boxes.own[n]))
                    .collect();
                assert!(found == expected, "seed {seed}, {name}, {side:?}");
            }
        }
    }
}

/// A random tree without negative costs, with recursion, siblings of one name, and containers at the bottom of some stacks
/// and, in some trees, within them.
fn tree_with_containers(random: &mut Random, within: bool) -> Arc<CallTree> {
    let mut stacks = Vec::new();
    for _ in 0..2 + random.index(60) {
        let mut stack = vec![["a", "[thread]", "[other]", "b"][random.index(4)]];
        for _ in 0..random.index(8) {
            let names = ["a", "b", "c", "d", "a'", "[within]"];
            stack.push(names[random.index(if within { 6 } else { 5 })]);
        }
        stacks.push((stack.join(" "), random.index(9) as i64));
    }
    tree_of(&stacks, |name| match name.starts_with('[') {
        true => Frame::container(name),
        false => Frame {
            file: name.ends_with('\'').then(|| "twin.c".into()),
            ..Frame::function(name.trim_end_matches('\''))
        },
    })
}

#[test]
fn merged_functions_are_the_same_with_and_without_the_table_of_calls() {
    let mut many = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let tree = match seed {
            299 => large_tree(&mut random, 3_000, false),
            _ => tree_with_containers(&mut random, seed % 3 == 0),
        };
        let (slow, fast) = (alone(&tree).1, prepared(&tree).1);
        for path in Naive(&tree).all(1) {
            for side in BOTH {
                let boxes = |flame: &FlameTree, along: &[&str], minimum: f64| {
                    let merged = Merged::new(flame, &path, side, Width::A)?;
                    merged.boxes(along, &View::whole(Width::A, minimum))
                };
                for minimum in [0.0, 0.05, 0.3] {
                    let found = boxes(&fast, &[], minimum);
                    assert_eq!(
                        found,
                        boxes(&slow, &[], minimum),
                        "{seed} {path:?} {side:?}"
                    );
                    many += found.map_or(0, |it| it.depth.len());
                }
                for along in ["a", "b", "[thread]", "[within]"] {
                    let found = boxes(&fast, &[along], 0.01);
                    let expected = boxes(&slow, &[along], 0.01);
                    assert_eq!(found, expected, "{seed} {path:?} {side:?} {along}");
                }
            }
        }
    }
    assert!(many > 10_000, "{many}");
}

#[test]
fn narrow_boxes_of_merged_paths_are_left_out_and_zooms_go_along_names() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let tree = random_tree(&mut random, false);
        let (_, flame) = alone(&tree);
        for path in Naive(&tree).all(2) {
            for side in BOTH {
                let merged = || Merged::new(&flame, &path, side, Width::A).expect("it occurs");
                let whole = merged()
                    .boxes(&[], &View::whole(Width::A, 0.0))
                    .expect("the path");
                let view = View::whole(Width::A, 0.2);
                let wide = merged().boxes(&[], &view).expect("the path");
                check_places(&wide, &view);
                let count = whole.width.iter().filter(|&&it| it >= 0.2).count();
                assert_eq!(wide.width.len(), count, "seed {seed}, {path:?}, {side:?}");
                if let Some(at) = whole.depth.iter().position(|&it| it == 1) {
                    let name = flame.title(whole.key[at].expect("a name")).to_owned();
                    let zoomed = merged().boxes(&[&name], &View::whole(Width::A, 0.0));
                    let zoomed = zoomed.expect("it is there");
                    assert_eq!((zoomed.a[0], zoomed.width[0]), (whole.a[at], 1.0));
                }
                assert_eq!(merged().boxes(&["no such name"], &view), None);
            }
        }
        assert!(Merged::new(&flame, &["no such name"], MergedSide::Callees, Width::A).is_none());
    }
}

#[test]
fn comparisons_are_drawn_of_both_sides() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let [a, b] = [0, 1].map(|_| random_tree(&mut random, false));
        let (profile, flame) = compared(&a, &b);
        let sides = profile.sides().expect("a comparison");
        let by_stack = |tree: &CallTree| -> BTreeMap<Vec<String>, i64> {
            let stack = |n| tree.stack(n).map(|n| tree.frame(n).name.clone()).collect();
            (0..tree.len())
                .map(|n| (stack(n), tree.values(0)[n as usize]))
                .collect()
        };
        let (in_a, in_b) = (by_stack(&a), by_stack(&b));
        let stacks: BTreeSet<_> = in_a.keys().chain(in_b.keys()).collect();
        assert_eq!(
            flame.len() as usize,
            stacks.len(),
            "one node a stack of either"
        );
        let change: i64 = stacks
            .iter()
            .map(|it| (in_a.get(*it).unwrap_or(&0) - in_b.get(*it).unwrap_or(&0)).abs())
            .sum();
        assert_eq!(flame.weight(Width::Change, 0, flame.len()), change as f64);
        for width in WIDTHS {
            let view = View::whole(width, 0.0);
            let boxes = flame.boxes(None, &view);
            check_places(&boxes, &view);
            assert_eq!((boxes.a[0], boxes.b[0]), (sides.a, sides.b));
            for path in Naive(&a).all(2) {
                let s = profile.summary_of(&path).expect("it occurs");
                let cum = profile.sides_of(&s).expect("a comparison").cum;
                for side in BOTH {
                    let merged = Merged::new(&flame, &path, side, width).expect("it occurs");
                    let boxes = merged.boxes(&[], &view).expect("the path");
                    check_places(&boxes, &view);
                    assert_eq!(
                        (boxes.a[0], boxes.b[0]),
                        (cum.a, cum.b),
                        "seed {seed}, {path:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn labels_paint_what_they_cover_and_searches_count_nothing_twice() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let tree = random_tree(&mut random, seed % 2 == 0);
        let (profile, flame) = alone(&tree);
        let naive = Naive(&tree);
        let paths: Vec<Vec<&str>> = naive.all(3).into_iter().collect();
        let some = |random: &mut Random| paths[random.index(paths.len())].clone();
        let labels: Vec<Vec<Vec<&str>>> = (0..3)
            .map(|_| vec![some(&mut random), some(&mut random)])
            .collect();
        let painted = flame.painted(&labels);
        // For each node the label of the path that ends furthest down: within its subtree, or beyond it. Among equal ones that of
        // the last label, and that of a path that ends there.
        let mut expected = vec![((0, false), 0); tree.len() as usize];
        for (label, paths) in (1_u16..).zip(&labels) {
            for nodes in paths.iter().flat_map(|path| Naive(&tree).paths(path)) {
                let last = nodes[nodes.len() - 1];
                let leaf = tree.ends()[last as usize] == last + 1;
                let above = nodes[..nodes.len() - 1].iter().map(|&n| (n, (n, false)));
                let below = (last..tree.ends()[last as usize]).map(|n| (n, (last, !leaf)));
                for (n, rank) in above.chain(below) {
                    let known = &mut expected[n as usize];
                    *known = (*known).max(((rank.0 + 1, rank.1), label));
                }
            }
        }
        for n in 0..tree.len() {
            let (_, label) = expected[n as usize];
            assert_eq!(painted.label(n), label, "seed {seed}, node {n}");
        }
        for text in ["a", "B", "", "zz"] {
            let found = flame.matches(text, None);
            let wanted = text.to_lowercase();
            let all = profile.initial_summaries().into_iter();
            let all: Vec<_> = all
                .filter(|s| profile.path_of(s)[0].to_lowercase().contains(&wanted))
                .collect();
            assert_eq!(found.a, profile.total_cum_of(&all), "seed {seed}, {text:?}");
            assert_eq!(found.names.len(), all.len());
        }
    }
}
