//! Binaries that other profilers silently find nothing in: each is profiled for real, and its line has experiments.

use std::path::{Path, PathBuf};

use crate::support::{programs, recording, run_for};
use fulcrum_recorder::{Aim, Options};
use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};
use tempfile::TempDir;

/// Sources in a folder of their own, built by command lines whose words are separated by spaces.
struct Shop {
    built: PathBuf,
    runs: TempDir,
}

impl Shop {
    fn new(sources: &[&str], lines: &[&str]) -> Shop {
        libraries::all();
        let read = |path: PathBuf| std::fs::read(path).expect("a source");
        let header = read(engine_folder().join("include/fulcrum.h"));
        let mut recipe = Recipe::new("shop").file("fulcrum.h", header);
        for source in sources {
            recipe = recipe.file(source, read(programs().join(source)));
        }
        let built = lines
            .iter()
            .fold(recipe, |it, line| it.command(line.split(' ')));
        Shop {
            built: built.build(),
            runs: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.built.join(name)
    }

    fn options(&self, program: &str, arguments: &[&str]) -> Options {
        Options {
            program: self.path(program).into(),
            args: arguments.iter().map(Into::into).collect(),
            workspace: Some(self.built.clone()),
            output: Some(self.runs.path().join("run")),
            stdio: fulcrum_recorder::Stdio::Files,
            ..Options::default()
        }
    }
}

/// At least one experiment, with samples, on one of these lines.
fn check(how: &str, options: Options, lines: &[(&str, u32)]) {
    let recorded = run_for(options, 3);
    let recording = recording(&recorded);
    let expected = |file: &str, line: u32| {
        let ours = |it: &&(&str, u32)| Path::new(file).ends_with(it.0) && line == it.1;
        lines.iter().any(|it| ours(&it))
    };
    let selected: Vec<String> = recording
        .experiments
        .iter()
        .map(|it| format!("{} {}", it.selected, it.selected_samples))
        .collect();
    let good = recording.experiments.iter().any(|it| {
        let at = &it.selected.location;
        expected(&at.file, at.line) && it.selected_samples > 0
    });
    assert!(good, "{how}: {selected:?}, notes {:?}", recorded.notes);
}

const SHARES: [(&str, u32); 2] = [("shares.cpp", 10), ("shares.cpp", 14)];
const PLUGIN: [(&str, u32); 2] = [("plugin.c", 5), ("plugin.c", 6)];

/// Builds `shares.cpp` by these command lines into `a` and profiles it.
fn shares(lines: &[&str]) {
    let shop = Shop::new(&["shares.cpp"], lines);
    check(lines[0], shop.options("a", &[]), &SHARES);
}

fn installed(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let there = path
        .split(':')
        .any(|folder| Path::new(folder).join(program).exists());
    if !there {
        eprintln!("{program} is not installed: programs linked by it are not tested");
    }
    there
}

#[test]
fn programs_linked_by_every_linker() {
    std::thread::scope(|scope| {
        for linker in ["bfd", "gold", "lld", "mold"] {
            if installed(&format!("ld.{linker}")) {
                scope.spawn(move || {
                    shares(&[&format!(
                        "g++ -g -O1 -fuse-ld={linker} shares.cpp -o a -ldl"
                    )]);
                });
            }
        }
    });
}

#[test]
fn programs_with_split_compressed_or_separate_debug_information() {
    let builds: &[&[&str]] = &[
        &["g++ -gdwarf-5 -gsplit-dwarf -O1 shares.cpp -o a -ldl"],
        &["g++ -g -gz -O1 shares.cpp -o a -ldl"],
        &[
            "g++ -g -O1 shares.cpp -o a -ldl",
            "objcopy --compress-debug-sections=zstd a",
        ],
        &[
            "g++ -g -O1 -no-pie shares.cpp -o a -ldl",
            "objcopy --only-keep-debug a a.debug",
            "strip a",
            "objcopy --add-gnu-debuglink=a.debug a",
        ],
        &["g++ -g -O2 -flto shares.cpp -o a -ldl"],
    ];
    std::thread::scope(|scope| {
        for build in builds {
            scope.spawn(|| shares(build));
        }
    });
}

#[test]
fn a_rust_program_linked_by_lld() {
    if !installed("ld.lld") {
        return;
    }
    let line = "rustc -g -Copt-level=1 -Clink-arg=-fuse-ld=lld rusty.rs -o a";
    let shop = Shop::new(&["rusty.rs"], &[line]);
    check("rustc", shop.options("a", &[]), &[("rusty.rs", 17)]);
}

#[test]
fn a_library_that_is_opened_later() {
    let lines = [
        "gcc -g -O1 -fPIC -shared plugin.c -o plugin.so",
        "gcc -g -O1 opens.c -o a -ldl",
    ];
    let shop = Shop::new(&["opens.c", "plugin.c"], &lines);
    let library = shop.path("plugin.so").display().to_string();
    let options = Options {
        aim: Aim {
            binary_scope: vec!["MAIN".into(), "%plugin.so".into()],
            ..Aim::default()
        },
        ..shop.options("a", &[&library])
    };
    check("dlopen", options, &PLUGIN);
}

#[test]
fn a_library_beside_the_program() {
    let lines = [
        "gcc -g -O1 -fPIC -shared -fuse-ld=gold plugin.c -o libplugin.so",
        "gcc -g -O1 opens.c -o a -L. -Wl,--no-as-needed -lplugin -Wl,-rpath,$ORIGIN -ldl",
    ];
    let shop = Shop::new(&["opens.c", "plugin.c"], &lines);
    let library = shop.path("libplugin.so").display().to_string();
    let options = Options {
        aim: Aim {
            binary_scope: vec!["%libplugin.so".into()],
            ..Aim::default()
        },
        ..shop.options("a", &[&library])
    };
    check("library", options, &PLUGIN);
}
