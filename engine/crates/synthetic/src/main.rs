//! `fulcrum-synthetic KIND FOLDER [--seed N] [--no-folded]`: writes synthetic profiles, and what is planted in them.
//!
//! Writes `NAME.pb.gz` and `NAME.folded`, and `KIND.json` with each tree's shape and the planted sequences.

#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fulcrum_model::CallTree;
use fulcrum_profile_formats::{Calls, Format, OutputFormat, Profile, write_in_order};
use fulcrum_synthetic::{Pair, Planted, Shape, Single, TreeShape, pair, shuffled, single};
use serde_json::{Value, json};

const USAGE: &str =
    "usage: fulcrum-synthetic trade3|specj|xml|ten-million FOLDER [--seed N] [--no-folded]";

struct Options {
    kind: String,
    folder: PathBuf,
    seed: u64,
    folded: bool,
}

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match generate(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write to {}: {error}", options.folder.display());
            ExitCode::FAILURE
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let (mut words, mut seed, mut folded) = (Vec::new(), 1, true);
    while let Some(arg) = args.next() {
        match &*arg {
            "--seed" => seed = args.next()?.parse().ok()?,
            "--no-folded" => folded = false,
            _ => words.push(arg),
        }
    }
    let [kind, folder] = <[String; 2]>::try_from(words).ok()?;
    let known = ["trade3", "specj", "xml", "ten-million"].contains(&&*kind);
    known.then(|| Options {
        kind,
        folder: folder.into(),
        seed,
        folded,
    })
}

fn generate(options: &Options) -> io::Result<()> {
    fs::create_dir_all(&options.folder)?;
    let (trees, planted) = match &*options.kind {
        "trade3" => {
            let Pair {
                with,
                without,
                planted,
            } = pair(1.0, options.seed);
            let trees = vec![("trade3-enabled", with), ("trade3-disabled", without)];
            (trees, planted)
        }
        kind => {
            let (name, of) = match kind {
                "specj" => ("specj", Shape::SPECJ),
                "xml" => ("xml", Shape::XML),
                "ten-million" => ("ten-million", Shape::TEN_MILLION),
                other => return Err(io::Error::other(format!("there is no profile {other}"))),
            };
            let Single { tree, planted } = single(&of, options.seed);
            (vec![(name, tree)], planted)
        }
    };
    let mut shapes = serde_json::Map::new();
    for (name, tree) in trees {
        shapes.insert(name.to_owned(), shape(&tree));
        save(options, name, tree)?;
    }
    let planted: Vec<Value> = planted.iter().map(sequence).collect();
    let truth = json!({ "seed": options.seed, "trees": shapes, "planted": planted });
    let path = options.folder.join(&options.kind).with_extension("json");
    fs::write(path, format!("{truth:#}\n"))
}

fn shape(tree: &CallTree) -> Value {
    let it = TreeShape::of(tree);
    json!({
        "nodes": it.nodes, "leaves": it.leaves, "deepest": it.deepest, "meanDepth": it.mean_depth,
        "widest": it.widest, "frames": tree.frames().len(), "total": tree.total(0),
    })
}

fn sequence(it: &Planted) -> Value {
    json!({ "path": it.path, "cost": it.cost, "contexts": it.contexts })
}

fn save(options: &Options, name: &str, tree: CallTree) -> io::Result<()> {
    let nodes = shuffled(&tree, options.seed);
    let profile = Profile {
        format: Format::Pprof,
        calls: Calls::Tree(tree),
        default_value: 0,
        notes: Vec::new(),
        renamed: Vec::new(),
    };
    let write = |target: OutputFormat, path: &Path| {
        let mut file = BufWriter::new(File::create(path)?);
        write_in_order(&profile, target, 0, &nodes, &mut file).map_err(io::Error::other)?;
        file.flush()
    };
    write(
        OutputFormat::Pprof,
        &options.folder.join(format!("{name}.pb.gz")),
    )?;
    if options.folded {
        write(
            OutputFormat::Folded,
            &options.folder.join(format!("{name}.folded")),
        )?;
    }
    Ok(())
}
