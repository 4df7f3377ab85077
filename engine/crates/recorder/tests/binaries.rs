//! Binaries that other profilers silently find nothing in: each is profiled for real, and its line has experiments.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_recorder::{Aim, Options};
use support::{Lab, recording, run_for};
use tempfile::TempDir;

/// Sources in a folder of their own, built by command lines whose words are separated by spaces.
struct Shop(TempDir);

impl Shop {
    fn new(sources: &[&str]) -> Shop {
        // Builds the runtime on the way.
        let _ = Lab::build("idle.c", &["-g"]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for source in sources {
            let text = std::fs::read(here.join("tests/programs").join(source)).expect("a source");
            std::fs::write(folder.path().join(source), text).expect("room");
        }
        let header = here.join("../../include/fulcrum.h");
        std::fs::copy(header, folder.path().join("fulcrum.h")).expect("the header");
        Shop(folder)
    }

    fn sh(&self, line: &str) {
        let mut words = line.split(' ');
        let output = Command::new(words.next().expect("a program"))
            .args(words)
            .current_dir(self.0.path())
            .output()
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {text}");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn options(&self, program: &str, arguments: &[&str]) -> Options {
        Options {
            program: self.path(program).into(),
            args: arguments.iter().map(Into::into).collect(),
            workspace: Some(self.0.path().into()),
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
    let shop = Shop::new(&["shares.cpp"]);
    for line in lines {
        shop.sh(line);
    }
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
    let shop = Shop::new(&["rusty.rs"]);
    shop.sh("rustc -g -Copt-level=1 -Clink-arg=-fuse-ld=lld rusty.rs -o a");
    check("rustc", shop.options("a", &[]), &[("rusty.rs", 17)]);
}

#[test]
fn a_library_that_is_opened_later() {
    let shop = Shop::new(&["opens.c", "plugin.c"]);
    shop.sh("gcc -g -O1 -fPIC -shared plugin.c -o plugin.so");
    shop.sh("gcc -g -O1 opens.c -o a -ldl");
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
    let shop = Shop::new(&["opens.c", "plugin.c"]);
    shop.sh("gcc -g -O1 -fPIC -shared -fuse-ld=gold plugin.c -o libplugin.so");
    shop.sh("gcc -g -O1 opens.c -o a -L. -Wl,--no-as-needed -lplugin -Wl,-rpath,$ORIGIN -ldl");
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
