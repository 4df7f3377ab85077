use crate::testing::{check, check_fault, text};
use crate::{At, Code, Limits, Symbols, read_lines, read_with};

/// Two samples of `a`, one of them in a library, on a machine with this word size and byte order.
fn cpu(bytes: usize, big_end_first: bool) -> Vec<u8> {
    let words: &[u64] = &[
        0,
        3,
        0,
        10_000,
        0, // The header.
        5,
        2,
        0x40_1010,
        0x40_2021, // In f, called by main.
        2,
        3,
        0x7000_0010,
        0x7000_0010,
        0x40_2021, // The interrupted address twice.
        0,
        1,
        0,
    ];
    let mut file = Vec::new();
    for word in words {
        let eight = word.to_le_bytes();
        let mut word = eight[..bytes].to_vec();
        if big_end_first {
            word.reverse();
        }
        file.extend(word);
    }
    file.extend_from_slice(
        b"build=/opt/my app\n\
          00400000-00410000 r-xp 00001000 08:01 77                                 $build/main\n\
          00410000-00420000 rw-p 00000000 00:00 0\n\
          70000000-70001000 r-xp 00000000 08:01 78 /lib/libm.so (deleted)\n",
    );
    file
}

const UNNAMED: &str = "addresses have no names: the file knows none, and the programs and libraries that it was \
                       recorded from are not here.";

#[test]
fn processor_time_is_read_from_every_machine() {
    for (bytes, big_end_first) in [(8, false), (4, false), (8, true), (4, true)] {
        check(
            cpu(bytes, big_end_first),
            &format!(
                "samples 7
                 cpu ns* 70000000
                 0x3020 (main) 0 0
                 0x3020 (main);0x10 (libm.so) 2 20000000
                 0x3020 (main);0x2010 (main) 5 50000000
                 note: 3 {UNNAMED}"
            ),
        );
    }
}

struct Named;

impl Symbols for Named {
    fn code(&self, file: &str, _: Option<&[u8]>, at: At) -> Vec<Code> {
        let code = |name: &str, line| Code {
            name: name.to_owned(),
            file: "a.c".to_owned(),
            line,
        };
        match (file, at) {
            ("/opt/my app/main", At::Byte(0x3020)) => vec![code("main", 9)],
            ("/opt/my app/main", At::Byte(0x2010)) => vec![code("f", 3), code("inlined", 4)],
            ("/lib/libm.so", At::Byte(0x10)) => vec![code("sin", 1)],
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn files_that_are_here_name_functions_and_lines() {
    let profile = read_with(cpu(8, false), "x", Limits::default(), &Named).expect("a profile");
    let expect = "samples 7\ncpu ns* 70000000\nmain 0 0\nmain;f 0 0\nmain;f;inlined 5 50000000\nmain;sin 2 20000000\n";
    assert_eq!(text(&profile), expect);
    let lines = read_lines(cpu(8, false), "x", Limits::default(), &Named).expect("a profile");
    let lines = lines.expect("it tells lines");
    let crate::Calls::Tree(tree) = &lines.calls else {
        panic!("a tree");
    };
    let main = tree.roots().next().expect("main");
    assert_eq!(tree.frame(main).line, Some(9));
}

#[test]
fn names_of_a_server_come_before_the_profile() {
    let symbols = b"--- symbol\nbinary=/bin/main\n0x0000000000401010 f--inlined\n0x402020 main\n---\n--- profile\n";
    check(
        [&symbols[..], &cpu(8, false)].concat(),
        &format!(
            "samples 7
             cpu ns* 70000000
             main 0 0
             main;0x10 (libm.so) 2 20000000
             main;f 0 0
             main;f;inlined 5 50000000
             note: 1 {UNNAMED}"
        ),
    );
}

#[test]
fn a_cut_or_damaged_profile_of_processor_time_is_told() {
    let whole = cpu(8, false);
    check(
        &whole[..8 * 9],
        &format!(
            "samples 5
             cpu ns* 50000000
             0x402020 0 0
             0x402020;0x401010 5 50000000
             note: The file is cut short: the words that end its samples are missing.
             note: 2 {UNNAMED}"
        ),
    );
    check_fault(&whole[..8 * 6], 0, "the file ends inside a sample");
    check_fault(
        &whole[..8 * 8],
        0,
        "a sample claims 2 addresses, but 1 are left",
    );
}

#[test]
fn memory_in_use_and_allocated_is_estimated_from_samples() {
    let maps = "\nMAPPED_LIBRARIES:\n00400000-00410000 r-xp 00000000 08:01 77 /bin/app\n";
    let rows = "     1:   524288 [     3:  1572864] @ 0x401011 0x402021\n\
                     0:        0 [     2:     1024] @ 0x401011\n";
    let expect = format!(
        "alloc_objects 2053
         alloc_space 3537322
         inuse_objects 1
         inuse_space bytes* 829411
         0x1010 (app) 2049 1049088 0 0
         0x2020 (app) 0 0 0 0
         0x2020 (app);0x1010 (app) 4 2488234 1 829411
         note: 2 {UNNAMED}"
    );
    let expect = expect.replace("alloc_space 3537322", "alloc_space bytes 3537322");
    check(
        format!("heap profile:      1:   524288 [     5:  1573888] @ heap_v2/524288\n{rows}{maps}"),
        &expect,
    );
    // Go writes twice its rate, and functions with their lines.
    let go = "heap profile: 1: 524288 [5: 1573888] @ heap/1048576\n1: 524288 [3: 1572864] @ 0x401011 0x402021\n\
              #\t0x401010\tmain.f+0x10\t/a/x.go:4\n#\t0x402020\tmain.main+0x20\t\t/a/x.go:9\n\n\
              0: 0 [2: 1024] @ 0x401011\n#\t0x401010\tmain.f+0x10\t/a/x.go:4\n\n# runtime.MemStats\n# Alloc = 7\n";
    check(
        go,
        "alloc_objects 2053
         alloc_space bytes 3537322
         inuse_objects 1
         inuse_space bytes* 829411
         main.f 2049 1049088 0 0
         main.main 0 0 0 0
         main.main;main.f 4 2488234 1 829411",
    );
}

#[test]
fn all_memory_and_growth_are_what_they_are() {
    for label in ["heapprofile", "growthz", "growth", "fragmentationz", "heap"] {
        check(
            format!("heap profile: 3: 96 [3: 96] @ {label}\n 2: 64 [ 2: 64] @ 0x11\n 1: 31 [ 1: 32] @\n"),
            &format!(
                "objects* 3
                 space bytes 95
                 0x10 2 64
                 [no stack] 1 31
                 note: The rows add up to 95 bytes, but the file's own total is 96: some may be missing.
                 note: 1 {UNNAMED}"
            )
            .replace("objects*", "objects")
            .replace("bytes 95", "bytes* 95"),
        );
    }
}

#[test]
fn a_difference_has_values_below_zero() {
    check(
        "heap profile: -1: -32 [0: 0] @ heapprofile\n -2: -64 [0: 0] @ 0x11\n 1: 32 [0: 0] @ 0x21\n",
        &format!(
            "objects -1
             space bytes* -32
             0x10 -2 -64
             0x20 1 32
             note: 2 {UNNAMED}
             note: Some values of \"objects\", \"space\" are negative, as in the difference of two profiles."
        ),
    );
}

#[test]
fn jemalloc_tells_threads_apart() {
    let file = "heap_v2/524288\n  t*: 3: 3145728 [0: 0]\n  t0: 2: 2097152 [0: 0] main\n  t7: 1: 1048576 [0: 0]\n\
                @ 0x11 0x21\n  t*: 3: 3145728 [0: 0]\n  t0: 2: 2097152 [0: 0]\n  t7: 1: 1048576 [0: 0]\n\n\
                MAPPED_LIBRARIES:\n";
    // 3145728 / (1 - 1/e^2) = 3638089.
    check(
        file,
        &format!(
            "objects 3
             space bytes* 3638089
             {{main (0)}} 0 0
             {{main (0)}};0x20 0 0
             {{main (0)}};0x20;0x10 2 2425392
             {{thread 7}} 0 0
             {{thread 7}};0x20 0 0
             {{thread 7}};0x20;0x10 1 1212697
             note: 2 {UNNAMED}"
        ),
    );
    // One thread needs no container.
    check(
        file.replace("  t7: 1: 1048576 [0: 0]\n", ""),
        &format!(
            "objects 3
             space bytes* 3638089
             0x20 0 0
             0x20;0x10 3 3638089
             note: 2 {UNNAMED}"
        ),
    );
}

#[test]
fn waiting_is_in_nanoseconds() {
    check(
        "--- contentionz 1 ---\ncycles/second = 3201000000\nsampling period = 100\nms since reset = 16502830\n\
         discarded samples = 0\n  19490304       27 @ 0x11 0x21\n--- Memory map: ---\n  00000000-00000100: /lib/ld-2.15.so\n",
        &format!(
            "contentions 2700
             delay ns* 608881724
             0x20 (ld-2.15.so) 0 0
             0x20 (ld-2.15.so);0x10 (ld-2.15.so) 2700 608881724
             note: 2 {UNNAMED}"
        ),
    );
    check(
        "--- mutex:\ncycles/second=1000000000\nsampling period=2\n5 2 @ 0x11\n#\t0x10\tsync.(*Mutex).Unlock+0x10\t/go/mutex.go:5\n",
        "contentions 2
         delay ns* 5
         sync.(*Mutex).Unlock 2 5",
    );
}

#[test]
fn goroutines_are_counted() {
    check(
        "goroutine profile: total 4\n3 @ 0x11 0x21\n#\t0x10\tmain.wait+0x10\t/a.go:3\n#\t0x20\tmain.main+0x1\t/a.go:9\n\n1 @ 0x31\n",
        &format!(
            "goroutine* 4
             0x30 1
             main.main 0
             main.main;main.wait 3
             note: 1 {UNNAMED}"
        ),
    );
}

#[test]
fn wrong_rows_are_errors() {
    let head = "heap profile: 1: 32 [1: 32] @ heapprofile\n";
    for (row, expect) in [
        (
            "1: 32 [1: 32] 0x11",
            "expected a row such as 1: 32 [1: 32] @ 0x42ecc3, got \"1: 32 [1: 32] 0x11\"",
        ),
        (
            "1: 32 [1: 32] @ 0xzz",
            "expected an address as 0x42ecc3, got \"0xzz\"",
        ),
        ("0: 32 [0: 0] @ 0x11", "a row has bytes but no objects"),
    ] {
        check_fault(format!("{head}{row}\n"), 2, expect);
    }
    let wait = "--- contention:\ncycles/second=1\n1 @ 0x11\n";
    check_fault(
        wait,
        3,
        "expected a row such as 19490304 27 @ 0x42ecc3, got \"1 @ 0x11\"",
    );
}
