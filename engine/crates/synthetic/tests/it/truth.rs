//! Shapes are exact, what is planted is there, and a seed means one profile.

use std::sync::Arc;

use fulcrum_model::CallTree;
use fulcrum_paths::{CallTreeProfile, ComparativeProfile, ProfileInterface};
use fulcrum_profile_formats::{Calls, Format, OutputFormat, Profile, read, write_in_order};
use fulcrum_synthetic::{Pair, Planted, Shape, TreeShape, pair, shuffled, single};

/// Trees are smaller here, except XML's. `npm run bench -- paths` checks the others in full size.
const PART: f64 = 0.08;

fn check_shape(tree: &CallTree, expect: &TreeShape, name: &str) {
    let found = TreeShape::of(tree);
    let exact = |it: &TreeShape| (it.nodes, it.leaves, it.deepest, it.widest);
    assert_eq!(exact(&found), exact(expect), "{name}");
    let off = found.mean_depth / expect.mean_depth - 1.0;
    assert!(off.abs() < 0.02, "{name}: mean depth {}", found.mean_depth);
}

fn bytes(tree: CallTree, target: OutputFormat) -> Vec<u8> {
    let nodes = shuffled(&tree, 5);
    let profile = Profile {
        format: Format::Pprof,
        calls: Calls::Tree(tree),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    let mut bytes = Vec::new();
    write_in_order(&profile, target, 0, &nodes, &mut bytes).expect("memory takes everything");
    bytes
}

/// Without its first name, which is called for other reasons too: all that it costs is planted.
fn check_planted<P: ProfileInterface>(profile: &P, planted: &Planted) {
    let path: Vec<&str> = planted.path.iter().map(String::as_str).collect();
    let whole = profile.summary_of(&path).expect("it is planted");
    assert!(profile.cum_of(&whole) > 0);
    let callers = profile.top_extensions(&whole).len();
    let few = planted.contexts < 8;
    assert!(few || callers > 3, "{path:?} has {callers} callers");
    let calls = profile.summary_of(&path[1..2]).expect("it is planted");
    let cost = profile.cum_of(&calls);
    // Sequences that begin alike share their first call.
    assert!(cost >= planted.cost, "{path:?}: {cost}");
    if !path[1].starts_with("Collaborator5.") {
        assert_eq!(cost, planted.cost, "{path:?}");
    }
}

#[test]
fn the_pair_has_table_1s_proportions_and_its_overheads() {
    let Pair {
        with,
        without,
        planted,
    } = pair(PART, 1);
    check_shape(&with, &TreeShape::TRADE3_ENABLED.scaled(PART), "enabled");
    check_shape(
        &without,
        &TreeShape::TRADE3_DISABLED.scaled(PART),
        "disabled",
    );
    let difference = with.total(0) - without.total(0);
    let overhead = difference as f64 / without.total(0) as f64;
    assert!((overhead - 0.41).abs() < 0.02, "{overhead}");
    let sum: i64 = planted.iter().map(|it| it.cost).sum();
    let part = sum as f64 / difference as f64;
    assert!((0.89..0.95).contains(&part), "{part}");
    assert_eq!(planted.len(), 20);
    assert!(planted.is_sorted_by(|a, b| a.cost >= b.cost));
    let names: usize = planted.iter().map(|it| it.path.len()).sum();
    assert!((13..=15).contains(&(names / planted.len())), "{names}");
    let profile = ComparativeProfile::new((Arc::new(with), 0), (Arc::new(without), 0));
    let profile = profile.expect("the same unit");
    for it in &planted {
        check_planted(&profile, it);
        // The ends of the sequences are called from elsewhere, on both sides.
        let last = profile.summary_of(&[it.path.last().expect("it has names")]);
        let sides = profile.sides_of(&last.expect("it is planted"));
        assert!(sides.expect("two sides").cum.b > 0);
    }
}

#[test]
fn single_profiles_have_table_5s_proportions_and_their_bottlenecks() {
    for (kind, name) in [
        (Shape::XML, "XML"),
        (
            Shape {
                shape: TreeShape::SPECJ.scaled(0.04),
                ..Shape::SPECJ
            },
            "SPECj",
        ),
    ] {
        let made = single(&kind, 3);
        check_shape(&made.tree, &kind.shape, name);
        let total = made.tree.total(0) as f64;
        let sum: i64 = made.planted.iter().map(|it| it.cost).sum();
        let part = sum as f64 / total;
        assert!((part - kind.planted).abs() < 0.04, "{name}: {part}");
        let profile = CallTreeProfile::new(Arc::new(made.tree), 0);
        for it in &made.planted {
            check_planted(&profile, it);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let of = |seed| bytes(single(&Shape::XML, seed).tree, OutputFormat::Pprof);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn files_have_the_same_tree_in_another_order() {
    let tree = single(&Shape::XML, 1).tree;
    let TreeShape { nodes, leaves, .. } = TreeShape::of(&tree);
    let total = tree.total(0);
    let order = shuffled(&tree, 5);
    assert!(!order.is_sorted());
    for target in [OutputFormat::Pprof, OutputFormat::Folded] {
        let bytes = bytes(tree.clone(), target);
        let back = read(&bytes, "x").expect("our own writers write what we read");
        let Calls::Tree(back) = back.calls else {
            panic!("expected a tree");
        };
        let shape = TreeShape::of(&back);
        assert_eq!(
            (shape.nodes, shape.leaves, back.total(0)),
            (nodes, leaves, total)
        );
    }
}
