//! Rewrites class files of whole folders in place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_jvm_core::{ClassFile, ObjectProbes, Probes, Refusal, Selected, ValueProbes, rewrite};
use fulcrum_test_support::jdk::jdks;

pub(crate) const PROBES: Probes<'_> = Probes {
    class: "Probe",
    enter: "enter",
    exit: "exit",
    thrown: "thrown",
    gate: None,
    objects: None,
    values: None,
};

pub(crate) const VALUED: Probes<'_> = Probes {
    values: Some(ValueProbes {
        class: PROBES.class,
        int: "toldInt",
        long: "toldLong",
        float: "toldFloat",
        double: "toldDouble",
        object: "toldObject",
        given: "given",
        gives: "gives",
    }),
    ..PROBES
};

/// How many arguments of a call are passed on.
const MOST: u8 = 3;

pub(crate) const TELLING: Probes<'_> = Probes {
    objects: Some(ObjectProbes {
        class: PROBES.class,
        entered: "entered",
        returns: "returns",
        says: "says",
    }),
    ..PROBES
};

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/java")
        .join(name)
}

/// Every method that has code, numbered from `first`.
pub(crate) fn all(class: &ClassFile<'_>, first: u32) -> Vec<Selected> {
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
            values: Some(MOST),
        })
        .collect()
}

pub(crate) fn class_files(folder: &Path) -> Vec<PathBuf> {
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
pub(crate) fn rewrite_all(folder: &Path, probes: &Probes<'_>, first: u32) -> u32 {
    let mut number = first;
    for path in class_files(folder) {
        let bytes = fs::read(&path).unwrap();
        let class =
            ClassFile::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // HotSpot treats the constructor of Object specially.
        if class.name().starts_with(probes.class) || class.name() == "java/lang/Object" {
            continue;
        }
        let mut selected = all(&class, number);
        // Of `java.base`, a third has gates, a third passes on objects, a third values.
        let all_kinds = probes.gate.is_some() && probes.values.is_some();
        for it in selected.iter_mut().filter(|_| all_kinds) {
            it.gated = it.number % 3 == 0;
            it.objects = it.number % 3 == 1;
            it.values = (it.number % 3 == 2).then_some(MOST);
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

/// Rewrites all methods of the classes of `java.base` that the pattern names, and has a virtual machine start with them and
/// verify each. Returns the numbers of classes and of methods.
pub(crate) fn verify_platform(classes: &str) -> (usize, u32) {
    let probes = Probes {
        class: "java/lang/FulcrumProbe",
        gate: Some("gate"),
        objects: TELLING.objects.map(|it| ObjectProbes {
            class: "java/lang/FulcrumProbe",
            ..it
        }),
        values: VALUED.values.map(|it| ValueProbes {
            class: "java/lang/FulcrumProbe",
            ..it
        }),
        ..PROBES
    };
    let jdk = &jdks()[0];
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let extracted = Command::new(jdk.home.join("bin/jimage"))
        .args([
            "extract",
            "--include",
            &format!("regex:/java.base/{classes}"),
            "--dir",
        ])
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
                public static void returns(Object it, int n) {} public static void says(int it, int n) {} \
                public static void toldInt(int it, int n) {} public static void toldLong(long it, int n) {} \
                public static void toldFloat(float it, int n) {} public static void toldDouble(double it, int n) {} \
                public static void toldObject(Object it, int n) {} public static void given(int all, int n) { calls++; } \
                public static void gives(int n) {} }";
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
    (names.len(), count)
}
