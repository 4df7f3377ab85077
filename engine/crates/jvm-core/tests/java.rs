//! Rewritten classes pass the verifier of every installed JDK, do what they did before, and their probes balance.

mod jdk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_jvm_core::{ClassFile, ObjectProbes, Probes, Refusal, Selected, rewrite};
use jdk::{Jdk, jdks};

const PROBES: Probes<'_> = Probes {
    class: "Probe",
    enter: "enter",
    exit: "exit",
    thrown: "thrown",
    gate: None,
    objects: None,
};

const TELLING: Probes<'_> = Probes {
    objects: Some(ObjectProbes {
        class: PROBES.class,
        entered: "entered",
        returns: "returns",
        says: "says",
    }),
    ..PROBES
};

const GATED: Probes<'_> = Probes {
    gate: Some("gate"),
    ..PROBES
};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/java")
        .join(name)
}

/// Every method that has code, numbered from `first`.
fn all(class: &ClassFile<'_>, first: u32) -> Vec<Selected> {
    const NATIVE_OR_ABSTRACT: u16 = 0x500;
    let with_code = class
        .methods
        .iter()
        .enumerate()
        .filter(|(_, it)| it.access & NATIVE_OR_ABSTRACT == 0);
    with_code
        .map(|(method, _)| Selected {
            method,
            number: first + method as u32,
            gated: true,
            objects: true,
        })
        .collect()
}

fn class_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "class") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Rewrites all methods of all classes in place, except the probes' own, and counts the methods.
fn rewrite_all(folder: &Path, probes: &Probes<'_>, first: u32) -> u32 {
    let mut number = first;
    for path in class_files(folder) {
        let bytes = fs::read(&path).unwrap();
        let class =
            ClassFile::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // HotSpot treats the constructor of Object in its own way.
        if class.name().starts_with(probes.class) || class.name() == "java/lang/Object" {
            continue;
        }
        let mut selected = all(&class, number);
        // Of `java.base`, the first half has gates, the second tells objects.
        for it in &mut selected {
            it.gated = number - first < 20_000;
            it.objects = probes.gate.is_none() || !it.gated;
        }
        let rewritten = rewrite(&class, &selected, probes);
        for (of, why) in &rewritten.refused {
            let allowed = matches!(why, Refusal::TooLongToCompile | Refusal::TooLong);
            assert!(
                allowed,
                "{}.{}: {why}",
                class.name(),
                class.methods[of.method].name
            );
        }
        number += class.methods.len() as u32;
        if let Some(bytes) = rewritten.bytes {
            fs::write(&path, bytes).unwrap();
        }
    }
    number - first
}

/// Runs a class before and after, also with gates, and told objects; `major` overrides the version that the compiler wrote.
fn check(jdk: &Jdk, name: &str, release: &str, major: Option<u16>, first: u32) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    jdk.compile(
        &[source("Probe.java"), source(&format!("{name}.java"))],
        release,
        folder,
    );
    let originals = class_files(folder).into_iter().map(|path| {
        let mut bytes = fs::read(&path).unwrap();
        if let Some(major) = major {
            bytes[6..8].copy_from_slice(&major.to_be_bytes());
        }
        (path, bytes)
    });
    let originals: Vec<_> = originals.collect();
    let restore = || {
        for (path, bytes) in &originals {
            fs::write(path, bytes).unwrap();
        }
    };
    let run = || {
        let output = jdk
            .java()
            .args(["-Xverify:all", "-cp"])
            .arg(folder)
            .arg(name)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code(),
        )
    };
    restore();
    let (before, errors, status) = run();
    assert_eq!(status, Some(0), "{errors}");
    let mut counted = Vec::new();
    for probes in [PROBES, GATED, TELLING] {
        restore();
        let count = rewrite_all(folder, &probes, first);
        assert!(count > 30);
        let (after, said, status) = run();
        let told = (probes.gate.is_some(), probes.objects.is_some());
        let what = format!(
            "{name} {release} {major:?} {told:?} on {}",
            jdk.home.display()
        );
        assert_eq!(after, before, "{what}\n{said}");
        assert_eq!(status, Some(0), "{what}");
        let last = said.lines().last().unwrap_or_default();
        let words: Vec<_> = last.split(' ').collect();
        let ["calls", calls, "thrown", thrown] = words[..] else {
            panic!("{what}: {said}")
        };
        let (calls, thrown): (u32, u32) = (calls.parse().unwrap(), thrown.parse().unwrap());
        assert!(calls > 30 && thrown > 1, "{what}: {last}");
        counted.push(calls);
    }
    let share = f64::from(counted[1]) / f64::from(counted[0]);
    assert!(
        (0.5..0.95).contains(&share),
        "{name}: gates let {share} through"
    );
    assert_eq!(counted[2], counted[0], "{name}");
}

#[test]
fn what_java_8_knows_is_balanced_and_unchanged() {
    for jdk in jdks() {
        check(jdk, "Torture", "8", None, 1);
    }
    // Numbers that need two bytes, and those that need a constant.
    check(&jdks()[0], "Torture", "8", None, 200);
    check(&jdks()[0], "Torture", "8", None, 40_000);
}

#[test]
fn old_versions_need_no_stack_maps() {
    // The old verifier infers types: it sees that no variable is used after a handler.
    for major in [49, 50, 51] {
        check(&jdks()[0], "Torture", "8", Some(major), 1);
    }
}

#[test]
fn what_came_later_is_balanced_and_unchanged() {
    for jdk in jdks() {
        check(jdk, "Modern", "17", None, 1);
        if jdk.version > 17 {
            check(jdk, "Torture", &jdk.version.to_string(), None, 1);
        }
    }
}

#[test]
fn methods_that_are_not_selected_stay_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    jdks()[0].compile(&[source("Torture.java")], "8", folder.path());
    let bytes = fs::read(folder.path().join("Torture.class")).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    assert!(rewrite(&class, &[], &PROBES).bytes.is_none());
    for one in all(&class, 7) {
        let rewritten = rewrite(&class, &[one], &PROBES).bytes.unwrap();
        let after = ClassFile::parse(&rewritten).unwrap();
        for (n, (before, after)) in class.methods.iter().zip(&after.methods).enumerate() {
            assert_eq!(
                before.bytes() == after.bytes(),
                n != one.method,
                "{}",
                before.name
            );
            assert_eq!((&before.name, before.line), (&after.name, after.line));
        }
    }
}

#[test]
fn damaged_class_files_are_refused_and_never_crash() {
    let folder = tempfile::tempdir().unwrap();
    jdks()[0].compile(&[source("Torture.java")], "8", folder.path());
    let bytes = fs::read(folder.path().join("Torture$Derived.class")).unwrap();
    let attempt = |bytes: &[u8]| {
        if let Ok(class) = ClassFile::parse(bytes) {
            rewrite(&class, &all(&class, 1), &PROBES);
        }
    };
    for cut in 0..bytes.len() {
        assert!(ClassFile::parse(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x10] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            attempt(&damaged);
        }
    }
}

/// All methods of `java.base`, and a virtual machine that starts with them.
#[test]
fn the_platforms_own_classes_verify() {
    let probes = Probes {
        class: "java/lang/FulcrumProbe",
        gate: Some("gate"),
        objects: TELLING.objects.map(|it| ObjectProbes {
            class: "java/lang/FulcrumProbe",
            ..it
        }),
        ..PROBES
    };
    let jdk = &jdks()[0];
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let extracted = Command::new(jdk.home.join("bin/jimage"))
        .args(["extract", "--include", "regex:/java.base/.*", "--dir"])
        .arg(folder)
        .arg(jdk.home.join("lib/modules"))
        .status()
        .expect("the JDK has jimage");
    assert!(extracted.success());
    let patch = folder.join("java.base");
    let probe = folder.join("FulcrumProbe.java");
    let text = "package java.lang; public class FulcrumProbe { static int calls; public static void enter(int n) { \
                    calls++; } public static void exit(int n) {} public static void thrown(int n) {} \
                public static int gate(int n) { return calls++ & 1; } public static void exit(int n, int said) {} \
                public static void thrown(int n, int said) {} \
                public static void entered(Object on, Object given, int n) { calls++; } \
                public static void returns(Object it, int n) {} public static void says(int it, int n) {} }";
    fs::write(&probe, text).unwrap();
    let tools = folder.join("tools");
    jdk.compile(&[source("VerifyAll.java")], "8", &tools);
    let count = rewrite_all(&patch, &probes, 1);
    jdk.compile_into_base(&probe, &patch);
    let names: Vec<_> = class_files(&patch)
        .iter()
        .filter_map(|path| {
            path.strip_prefix(&patch)
                .ok()?
                .to_str()?
                .strip_suffix(".class")
                .map(|it| it.replace('/', "."))
        })
        .filter(|name| name != "module-info")
        .collect();
    fs::write(folder.join("names"), names.join("\n")).unwrap();
    let mut option = std::ffi::OsString::from("java.base=");
    option.push(&patch);
    let output = jdk
        .java()
        .args(["-Xverify:all", "--patch-module"])
        .arg(option)
        .arg("-cp")
        .args([&tools, Path::new("VerifyAll")])
        .arg(folder.join("names"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        text.trim(),
        format!("verified {}", names.len()),
        "{} methods; {errors}",
        count
    );
    assert!(count > 40_000, "{count} methods");
}
