//! Handmade recordings: a chunk has metadata, constants and events.

use crate::testing::{check, check_fault};

/// A number in the fewest bytes.
fn number(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f && out.len() < 8 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|&value| number(value)).collect()
}

fn text(text: &str) -> Vec<u8> {
    [vec![3], number(text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn event(class: u64, body: &[u8]) -> Vec<u8> {
    let body = [number(class), body.to_vec()].concat();
    let size = 1 + body.len() as u64;
    let size = number(size + u64::from(size > 0x7f));
    [size, body].concat()
}

/// Classes with their fields: name, class, and encoding.
type Described<'d> = (u64, &'d str, &'d [(&'d str, u64, &'d str)]);

const CLASSES: &[Described] = &[
    (10, "long", &[]),
    (11, "boolean", &[]),
    (12, "java.lang.String", &[]),
    (13, "jdk.types.Symbol", &[("string", 12, "")]),
    (
        14,
        "java.lang.Class",
        &[("modifiers", 10, ""), ("name", 13, "constant")],
    ),
    (
        15,
        "jdk.types.Method",
        &[
            ("type", 14, "constant"),
            ("name", 13, "constant"),
            ("hidden", 11, ""),
        ],
    ),
    (
        16,
        "jdk.types.StackFrame",
        &[("method", 15, "constant"), ("lineNumber", 10, "")],
    ),
    (
        17,
        "jdk.types.StackTrace",
        &[("truncated", 11, ""), ("frames", 16, "array")],
    ),
    (
        18,
        "java.lang.Thread",
        &[
            ("osName", 12, ""),
            ("osThreadId", 10, ""),
            ("javaName", 12, ""),
            ("javaThreadId", 10, ""),
        ],
    ),
    (
        20,
        "jdk.ExecutionSample",
        &[
            ("startTime", 10, ""),
            ("sampledThread", 18, "constant"),
            ("stackTrace", 17, "constant"),
        ],
    ),
    (
        21,
        "jdk.ObjectAllocationSample",
        &[
            ("eventThread", 18, "constant"),
            ("stackTrace", 17, "constant"),
            ("weight", 10, ""),
        ],
    ),
    (
        22,
        "jdk.JavaMonitorEnter",
        &[
            ("duration", 10, ""),
            ("eventThread", 18, "constant"),
            ("stackTrace", 17, "constant"),
        ],
    ),
    (23, "jdk.Other", &[("stackTrace", 17, "constant")]),
    (
        24,
        "jdk.CPUTimeSample",
        &[
            ("stackTrace", 17, "constant"),
            ("eventThread", 18, "constant"),
            ("failed", 11, ""),
            ("samplingPeriod", 10, ""),
        ],
    ),
];

fn metadata(classes: &[Described]) -> Vec<u8> {
    let mut strings: Vec<String> = Vec::new();
    let mut string = |text: &str| {
        let row = strings.iter().position(|it| it == text);
        row.unwrap_or_else(|| {
            strings.push(text.to_owned());
            strings.len() - 1
        }) as u64
    };
    let mut body = numbers(&[
        string("root"),
        0,
        1,
        string("metadata"),
        0,
        classes.len() as u64,
    ]);
    for (id, name, fields) in classes {
        let head = [string("class"), 2, string("id"), string(&id.to_string())];
        body.extend(numbers(&head));
        body.extend(numbers(&[
            string("name"),
            string(name),
            fields.len() as u64,
        ]));
        for (name, class, how) in *fields {
            let attributes = 2 + u64::from(!how.is_empty());
            body.extend(numbers(&[string("field"), attributes]));
            body.extend(numbers(&[string("name"), string(name)]));
            body.extend(numbers(&[string("class"), string(&class.to_string())]));
            match *how {
                "constant" => body.extend(numbers(&[string("constantPool"), string("true")])),
                "array" => body.extend(numbers(&[string("dimension"), string("1")])),
                _ => {}
            }
            body.push(0);
        }
    }
    let head = numbers(&[5, 6, 1, strings.len() as u64]);
    let strings: Vec<u8> = strings.iter().flat_map(|it| text(it)).collect();
    event(0, &[head, strings, body].concat())
}

fn checkpoint(pools: &[(u64, &[Vec<u8>])]) -> Vec<u8> {
    let mut body = numbers(&[5, 6, 0, 1, pools.len() as u64]);
    for (class, constants) in pools {
        body.extend(numbers(&[*class, constants.len() as u64]));
        body.extend(constants.concat());
    }
    event(1, &body)
}

/// `a/B.main` calls `a/B.leaf`; the second stack was cut. Two threads.
fn constants() -> Vec<u8> {
    let symbol = |id: u64, name: &str| [number(id), text(name)].concat();
    let thread = |id: u64, os: &str, java: &str| {
        [
            number(id),
            text(os),
            number(100 + id),
            text(java),
            number(id),
        ]
        .concat()
    };
    checkpoint(&[
        (
            13,
            &[symbol(1, "a/B"), symbol(2, "main"), numbers(&[3, 2, 9])],
        ),
        (12, &[[number(9), text("leaf")].concat()]),
        (14, &[numbers(&[1, 0, 1])]),
        (15, &[numbers(&[1, 1, 2, 0]), numbers(&[2, 1, 3, 0])]),
        (
            17,
            &[numbers(&[1, 0, 2, 2, 7, 1, 8]), numbers(&[2, 1, 1, 2, 7])],
        ),
        (18, &[thread(1, "main", "main"), thread(2, "GC", "")]),
    ])
}

fn chunk_of(size: Option<u64>, events: &[Vec<u8>]) -> Vec<u8> {
    let events = events.concat();
    let size = size.unwrap_or(68 + events.len() as u64);
    let mut out = b"FLR\0\0\x02\0\x01".to_vec();
    // Size, last checkpoint, metadata, start, duration, first tick, ticks a second.
    for value in [size, 0, 0, 1, 2, 3, 1_000_000] {
        out.extend(u64::to_be_bytes(value));
    }
    out.extend(1_u32.to_be_bytes());
    out.extend(events);
    out
}

fn execution(thread: u64, trace: u64) -> Vec<u8> {
    event(20, &numbers(&[77, thread, trace]))
}

fn whole() -> Vec<Vec<u8>> {
    vec![
        execution(1, 1),
        execution(1, 2),
        event(21, &numbers(&[1, 1, 4096])),
        event(22, &numbers(&[250, 2, 1])),
        event(23, &numbers(&[99])),
        constants(),
        metadata(CLASSES),
    ]
}

#[test]
fn events_are_value_types_and_chunks_are_added() {
    let one = chunk_of(None, &whole());
    let expect = |n: u64| {
        format!(
            "samples* {}
             allocation bytes {}
             monitor ns {}
             {{GC (102)}} 0 0 0
             {{GC (102)}};a.B.main 0 0 0
             {{GC (102)}};a.B.main;a.B.leaf 0 0 {}
             {{main (1)}} 0 0 0
             {{main (1)}};[truncated] 0 0 0
             {{main (1)}};[truncated];a.B.leaf {n} 0 0
             {{main (1)}};a.B.main 0 0 0
             {{main (1)}};a.B.main;a.B.leaf {n} {} 0
             note: {n} stacks were cut when they were recorded; their innermost frames are under [truncated].",
            2 * n,
            4096 * n,
            250_000 * n,
            250_000 * n,
            4096 * n,
        )
    };
    check(&one, &expect(1));
    check([one.clone(), one].concat(), &expect(2));
}

#[test]
fn samples_by_processor_time_weigh_their_periods() {
    let failed = event(24, &numbers(&[0, 1, 1, 20]));
    let taken = event(24, &numbers(&[1, 1, 0, 10]));
    check(
        chunk_of(None, &[taken, failed, constants(), metadata(CLASSES)]),
        "cpu ns* 30000
         [no stack] 20000
         a.B.main 0
         a.B.main;a.B.leaf 10000",
    );
}

#[test]
fn a_recording_that_was_not_closed_ends_with_its_last_whole_event() {
    let mut events = whole();
    events.push(execution(1, 5));
    events.push(execution(1, 1));
    for size in [Some(0), Some(1 << 40)] {
        let bytes = chunk_of(size, &events);
        check(
            &bytes[..bytes.len() - 1],
            "samples* 2
             allocation bytes 4096
             monitor ns 250000
             {GC (102)} 0 0 0
             {GC (102)};a.B.main 0 0 0
             {GC (102)};a.B.main;a.B.leaf 0 0 250000
             {main (1)} 0 0 0
             {main (1)};[truncated] 0 0 0
             {main (1)};[truncated];a.B.leaf 1 0 0
             {main (1)};a.B.main 0 0 0
             {main (1)};a.B.main;a.B.leaf 1 4096 0
             note: The recording was not closed: it ends with its last whole event.
             note: 1 samples are left out because their stacks were never written.
             note: 1 stacks were cut when they were recorded; their innermost frames are under [truncated].",
        );
    }
}

#[test]
fn a_missing_constant_spoils_nothing_else() {
    // Stack 9 is missing, and of stack 4 a method.
    let stack = event(
        1,
        &[
            numbers(&[5, 6, 0, 1, 1, 17, 1]),
            numbers(&[4, 0, 2, 8, 7, 1, 8]),
        ]
        .concat(),
    );
    let events = [
        execution(1, 1),
        execution(1, 9),
        execution(1, 4),
        constants(),
        stack,
        metadata(CLASSES),
    ];
    check(
        chunk_of(None, &events),
        "samples* 3
         [no stack] 1
         a.B.main 0
         a.B.main;[unknown] 1
         a.B.main;a.B.leaf 1
         note: 1 samples have stacks that the recording does not contain.
         note: 1 methods have no name in the recording and are shown as [unknown].",
    );
}

/// async-profiler's wall clock samples, alone and beside CPU samples.
const WALL: &[Described] = &[
    (19, "jdk.types.ThreadState", &[("name", 12, "")]),
    (
        25,
        "profiler.WallClockSample",
        &[
            ("sampledThread", 18, "constant"),
            ("stackTrace", 17, "constant"),
            ("state", 19, "constant"),
            ("samples", 10, ""),
        ],
    ),
    (
        26,
        "jdk.ExecutionSample",
        &[
            ("sampledThread", 18, "constant"),
            ("stackTrace", 17, "constant"),
            ("state", 19, "constant"),
        ],
    ),
];

fn states() -> Vec<u8> {
    let state = |id: u64, name: &str| [number(id), text(name)].concat();
    let states = [
        state(0, "STATE_DEFAULT"),
        state(1, "STATE_RUNNABLE"),
        state(2, "STATE_SLEEPING"),
    ];
    checkpoint(&[(19, &states)])
}

#[test]
fn threads_that_wait_are_parted_from_those_that_run() {
    let classes = metadata(&[CLASSES, WALL].concat());
    let ran = event(26, &numbers(&[1, 1, 1]));
    let slept = event(26, &numbers(&[1, 1, 2]));
    let of = |events: &[Vec<u8>]| {
        let rest = [states(), constants(), classes.clone()];
        chunk_of(None, &[events, &rest[..]].concat())
    };
    check(
        of(&[ran.clone(), slept.clone(), slept.clone()]),
        "samples* 3
         running samples 1
         waiting samples 2
         a.B.main 0 0 0
         a.B.main;a.B.leaf 3 1 2
         note: Waiting threads were sampled too: the value types \"running samples\" and \"waiting samples\" each have a part of the samples.",
    );
    // Where none waited, there is nothing to part.
    check(
        of(std::slice::from_ref(&ran)),
        "samples* 1
         a.B.main 0
         a.B.main;a.B.leaf 1",
    );
    let processor = event(26, &numbers(&[1, 1, 0]));
    let wall = |state: u64, samples: u64| event(25, &numbers(&[1, 1, state, samples]));
    check(
        of(&[processor, wall(1, 1), wall(2, 40)]),
        "samples* 1
         wall samples 41
         running wall samples 1
         waiting wall samples 40
         a.B.main 0 0 0 0
         a.B.main;a.B.leaf 1 41 1 40
         note: Waiting threads were sampled too: the value types \"running wall samples\" and \"waiting wall samples\" each have a part of the wall samples.",
    );
}

#[test]
fn recordings_of_java_9_and_10_and_live_objects_are_read() {
    let mut classes = CLASSES.to_vec();
    for (_, name, fields) in &mut classes {
        match *name {
            "jdk.ExecutionSample" => *name = "com.oracle.jdk.ExecutionSample",
            "jdk.types.StackTrace" => *name = "com.oracle.jfr.types.StackTrace",
            "jdk.types.Method" => *name = "com.oracle.jfr.types.Method",
            "jdk.types.StackFrame" => *name = "com.oracle.jfr.types.StackFrame",
            "jdk.types.Symbol" => *name = "com.oracle.jfr.types.Symbol",
            "jdk.ObjectAllocationSample" => {
                *name = "profiler.LiveObject";
                *fields = &[
                    ("eventThread", 18, "constant"),
                    ("stackTrace", 17, "constant"),
                    ("allocationSize", 10, ""),
                ];
            }
            _ => {}
        }
    }
    let live = event(21, &numbers(&[1, 1, 64]));
    check(
        chunk_of(
            None,
            &[execution(1, 1), live, constants(), metadata(&classes)],
        ),
        "samples* 1
         live objects bytes 64
         a.B.main 0 0
         a.B.main;a.B.leaf 1 64",
    );
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let classes = |more: &[Described<'static>]| metadata(&[CLASSES, more].concat());
    let claim = |pool: &[u64]| event(1, &[numbers(&[5, 6, 0, 1, 1]), numbers(pool)].concat());
    for (events, problem) in [
        (
            vec![execution(1, 1), constants()],
            "a chunk has no description of its events: the recording was cut short",
        ),
        (
            vec![classes(&[]), claim(&[17, 1 << 30])],
            "1073741824 constants are claimed, but 0 bytes are left",
        ),
        (
            vec![classes(&[]), claim(&[17, 1, 1, 0, 1 << 40])],
            "1099511627776 frames are claimed, but 0 bytes are left",
        ),
        (
            vec![classes(&[]), claim(&[99, 0])],
            "a pool names class 99, which the file does not have",
        ),
        (
            vec![classes(&[
                (30, "x", &[("y", 31, "")]),
                (31, "y", &[("x", 30, "")]),
            ])],
            "a value of class \"y\" holds itself",
        ),
        (
            vec![classes(&[(30, "x", &[("y", 77, "")])])],
            "a field names class 77, which the file does not have",
        ),
        (vec![classes(&[(10, "x", &[])])], "class 10 occurs twice"),
        (
            vec![
                event(21, &numbers(&[1, 1, u64::MAX])),
                constants(),
                classes(&[]),
            ],
            "the value 18446744073709551615 is too large",
        ),
        (
            vec![constants(), classes(&[])],
            "the recording has no samples of execution, allocation or waiting",
        ),
        (
            vec![vec![0, 0]],
            "an event claims 0 bytes, less than its size takes",
        ),
    ] {
        check_fault(chunk_of(None, &events), 0, problem);
    }
    let mut old = chunk_of(None, &whole());
    old[5] = 9;
    check_fault(&old, 0, "the recording has version 9.1, expected 1 or 2");
    let mut fixed = chunk_of(None, &whole());
    fixed[67] = 0;
    let problem = "the recording has numbers of fixed size, which are not read";
    check_fault(&fixed, 0, problem);
    let behind = [chunk_of(None, &whole()), vec![b'x'; 80]].concat();
    check_fault(behind, 0, "expected another chunk of the recording");
}
