use fulcrum_model::call_tree::{CallTreeBuilder, Frame, FrameId, ValueType};

use super::*;
use crate::testing::text;
use crate::{Format, read};
use fulcrum_stats::Random;

fn written(profile: &Profile, target: OutputFormat, value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    write(profile, target, value, &mut out).expect("it has stacks");
    out
}

fn read_back(profile: &Profile, target: OutputFormat, value: usize) -> Profile {
    let bytes = written(profile, target, value);
    let back = read(&bytes, "x").unwrap_or_else(|error| panic!("{error}"));
    let format = match target {
        OutputFormat::Folded => Format::Folded,
        OutputFormat::Pprof => Format::Pprof,
        OutputFormat::Speedscope => Format::Speedscope,
    };
    assert_eq!(back.format, format);
    back
}

fn frames(builder: &mut CallTreeBuilder) -> Vec<FrameId> {
    let names = [
        "main",
        "operator()(int, char)",
        "f; g",
        "λ \"x\"\t",
        "#private",
        "//odd",
        "a 12",
        "ends in newline\n",
        "[unknown]",
    ];
    let frames = names.iter().zip(0_u32..).map(|(&name, n)| Frame {
        file: (n % 3 == 1).then(|| format!("dir/{n}.c")),
        line: (n % 3 == 1).then_some(n + 1),
        binary: (n % 2 == 1).then(|| format!("/bin/app{}", n % 4)),
        ..Frame::function(name)
    });
    frames
        .map(|frame| builder.intern(frame).expect("room"))
        .collect()
}

/// A tree of random stacks. With threads, every stack is in one of three.
fn random(seed: u64, types: &[(&str, &str)], threads: bool) -> Profile {
    let mut dice = Random::new(seed);
    let types = types
        .iter()
        .map(|(name, unit)| ValueType::new(*name, *unit))
        .collect::<Vec<_>>();
    let width = types.len();
    let mut builder = CallTreeBuilder::new(types).expect("has types");
    let frames = frames(&mut builder);
    let names = ["T 1", "T 2", "pool \"a\""].map(Frame::container);
    let containers = names.map(|frame| builder.intern(frame).expect("room"));
    for n in 0..60 {
        let mut stack = Vec::new();
        if threads {
            stack.push(containers[if n < 3 { n } else { dice.index(3) }]);
        }
        for _ in 0..=dice.below(6) {
            stack.push(frames[dice.index(frames.len())]);
        }
        let values: Vec<_> = (0..width).map(|_| 1 + dice.below(1000) as i64).collect();
        builder.add(&stack, &values).expect("fits");
    }
    Profile {
        format: Format::Folded,
        calls: Calls::Tree(builder.finish().expect("fits")),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    }
}

/// A profile as text, with one value type, and without what a format cannot store.
fn kept(profile: &Profile, value: usize, frame: impl Fn(&Frame) -> Frame) -> String {
    let Calls::Tree(tree) = &profile.calls else {
        panic!("expected a tree");
    };
    let kind = tree.value_types()[value].clone();
    let mut builder = CallTreeBuilder::new(vec![kind]).expect("one");
    for node in 0..tree.len() {
        let stack = tree
            .stack(node)
            .map(|node| builder.intern(frame(tree.frame(node))));
        let stack: Vec<_> = stack.collect::<Result<_, _>>().expect("room");
        builder
            .add(&stack, &[tree.values(value)[node as usize]])
            .expect("fits");
    }
    text(&Profile {
        format: Format::Folded,
        calls: Calls::Tree(builder.finish().expect("fits")),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    })
}

#[test]
fn pprof_keeps_everything() {
    let types = [("cpu", "ns"), ("samples", ""), ("space", "bytes")];
    for seed in 0..40 {
        let profile = random(seed, &types, seed % 2 == 1);
        let back = read_back(&profile, OutputFormat::Pprof, 1);
        assert_eq!(back.default_value, 1);
        assert_eq!(back.notes, [""; 0]);
        for value in 0..types.len() {
            assert_eq!(
                kept(&back, value, Frame::clone),
                kept(&profile, value, Frame::clone)
            );
        }
        let (Calls::Tree(a), Calls::Tree(b)) = (&profile.calls, &back.calls) else {
            panic!("expected trees");
        };
        let places = |tree: &fulcrum_model::CallTree| {
            let mut frames: Vec<_> = (0..tree.len()).map(|n| tree.frame(n).clone()).collect();
            frames.sort_by_key(|frame| format!("{frame:?}"));
            frames.dedup();
            frames
        };
        assert_eq!(places(a), places(b));
    }
}

#[test]
fn speedscope_keeps_threads_files_and_lines() {
    let types = [
        ("samples", "0.01 count"),
        ("time", "ns"),
        ("space", "bytes"),
    ];
    for seed in 0..40 {
        let profile = random(seed, &types, seed % 2 == 1);
        for value in 0..types.len() {
            let back = read_back(&profile, OutputFormat::Speedscope, value);
            let without = |frame: &Frame| Frame {
                binary: None,
                ..frame.clone()
            };
            let contexts = |text: String| text.split_once('\n').expect("lines").1.to_owned();
            assert_eq!(
                contexts(kept(&back, 0, Frame::clone)),
                contexts(kept(&profile, value, without))
            );
            let (was, is) = (profile.value_types()[value], back.value_types()[0]);
            assert_eq!(was.unit, is.unit);
        }
    }
}

#[test]
fn folded_keeps_names_without_what_separates_them() {
    let types = [("samples", "0.001 count"), ("samples", "")];
    for seed in 0..40 {
        let profile = random(seed, &types, seed % 2 == 1);
        let back = read_back(&profile, OutputFormat::Folded, 0);
        assert_eq!(
            back.value_types(),
            [&ValueType::new("samples", "0.001 count")]
        );
        for value in 0..2 {
            let back = read_back(&profile, OutputFormat::Folded, value);
            let plain = |frame: &Frame| {
                let name = frame.name.replace(';', ":").replace('\n', " ");
                Frame::function(name.trim())
            };
            assert_eq!(kept(&back, 0, Frame::clone), kept(&profile, value, plain));
        }
    }
}

#[test]
fn differences_keep_their_signs() {
    let kind = ValueType::new("samples", "0.1 count");
    let mut builder = CallTreeBuilder::new(vec![kind]).expect("a type");
    let [f, g] = ["f", "g"].map(|it| builder.intern(Frame::function(it)).expect("room"));
    builder.add(&[f], &[15]).expect("fits");
    builder.add(&[f, g], &[-40]).expect("fits");
    let profile = Profile {
        format: Format::Pprof,
        calls: Calls::Tree(builder.finish().expect("fits")),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    for target in [
        OutputFormat::Folded,
        OutputFormat::Pprof,
        OutputFormat::Speedscope,
    ] {
        let back = read_back(&profile, target, 0);
        assert!(text(&back).contains("f 15\nf;g -40\n"), "{}", text(&back));
        let note = "are negative, as in the difference of two profiles.";
        assert!(back.notes.iter().any(|it| it.ends_with(note)));
    }
}

#[test]
fn the_same_profile_is_always_written_the_same() {
    for target in [
        OutputFormat::Folded,
        OutputFormat::Pprof,
        OutputFormat::Speedscope,
    ] {
        let [a, b] = [
            random(7, &[("cpu", "ns")], true),
            random(7, &[("cpu", "ns")], true),
        ];
        // Not a panic with both: they are long.
        assert!(
            written(&a, target, 0) == written(&b, target, 0),
            "{target:?}"
        );
    }
}

#[test]
fn a_call_graph_is_refused() {
    let graph = b"events: Ir\nfn=main\n1 5\n";
    let profile = read(graph, "x").expect("callgrind");
    for target in [
        OutputFormat::Folded,
        OutputFormat::Pprof,
        OutputFormat::Speedscope,
    ] {
        let error = write(&profile, target, 0, &mut Vec::new()).expect_err("no stacks");
        assert!(matches!(error, WriteError::NoStacks));
    }
    let tree = read(b"a;b 1\n", "x").expect("folded");
    let error = write(&tree, OutputFormat::Pprof, 1, &mut Vec::new()).expect_err("one value");
    assert!(matches!(error, WriteError::NoSuchValue { value: 1 }));
}
