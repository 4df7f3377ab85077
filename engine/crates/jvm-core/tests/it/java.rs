//! Rewritten classes pass the verifier of every installed JDK, do what they did before, and their probes balance.

use std::fs;

use crate::rewriting::{
    PROBES, TELLING, VALUED, all, class_files, rewrite_all, source, verify_platform,
};
use fulcrum_jvm_core::{ClassFile, Probes, rewrite};
use fulcrum_test_support::jdk::{Jdk, jdks};

const GATED: Probes<'_> = Probes {
    gate: Some("gate"),
    ..PROBES
};

/// Runs a class before and after rewriting, also with gates, objects or values; `major` overrides the version that the
/// compiler wrote.
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
    for probes in [PROBES, GATED, TELLING, VALUED] {
        restore();
        let count = rewrite_all(folder, &probes, first);
        assert!(count > 30);
        let (after, said, status) = run();
        let told = (probes.gate, probes.objects, probes.values);
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
    assert_eq!(counted[2..], [counted[0]; 2], "{name}");
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

/// A tenth of `java.base`; `npm run bench -- campaigns` takes all of it.
#[test]
fn the_platforms_own_classes_verify() {
    let (classes, methods) = verify_platform("java/(lang|util)/[^/]*[.]class");
    assert!(
        classes > 400 && methods > 4000,
        "{classes} classes, {methods} methods"
    );
}
