//! The paper's algorithm in small cases, with one test for each rule that the paper leaves out (findings, "Flow through
//! shared memory").

use fulcrum_transactions::memory::{FlowDetector, Learning, Limits};
use fulcrum_transactions::{Synopsis, ThreadId};

use crate::support::machine::{ARGUMENT, At, Done, Machine, Op, Program, STACK};

const LOCK: u64 = 0x60_0000;
const OTHER_LOCK: u64 = 0x60_0008;
/// The address of the shared word.
const X: u64 = 0x61_0000;
/// Registers: calls change `rax` and `rcx`, and preserve `rbx`. `r15` holds `X`.
const A: u8 = 0;
const C: u8 = 1;
const B: u8 = 3;
const AT_X: At = At(15, 0);
const AT_Y: At = At(15, 64);

/// The product, and the context of thread 0.
const PRODUCT: u64 = 0x5000;
const PRODUCER: u32 = 1;

/// The detector's threads run whole programs, each under `LOCK` unless it takes locks itself.
struct Case {
    machine: Machine,
    code: u64,
}

impl Case {
    fn new() -> Self {
        Case::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let machine = Machine::new(FlowDetector::with_limits(limits), 3, 0);
        Case { machine, code: 0 }
    }

    /// A program of its own code.
    fn program(&mut self, ops: &[Op]) -> Program {
        self.code += 0x100;
        let mut all = vec![Op::Constant(15, X)];
        all.extend_from_slice(ops);
        all.push(Op::Return(A));
        Program::new(self.code, all)
    }

    /// Runs a program once. Its context is the thread's number plus 1.
    fn run(&mut self, thread: usize, ops: &[Op]) -> Done {
        let program = self.program(ops);
        let context = Synopsis::from_number(thread as u32 + 1);
        self.machine.run(thread, &program, [PRODUCT, 0], context)
    }

    /// The context that a thread takes over when it runs this program.
    fn flow(&mut self, thread: usize, ops: &[Op]) -> Option<u32> {
        Some(self.run(thread, ops).consumed?.from.number())
    }
}

/// Ops under the lock, and ops after it.
fn section(within: &[Op], after: &[Op]) -> Vec<Op> {
    [&[Op::Lock(LOCK)], within, &[Op::Unlock(LOCK)], after].concat()
}

/// Thread 0 produces with some operations and thread 1 consumes with others. Checks whether thread 1 takes over the context
/// of thread 0.
#[track_caller]
fn check(produce: &[Op], consume: &[Op], flows: bool) {
    let mut case = Case::new();
    assert_eq!(case.flow(0, produce), None);
    assert_eq!(case.flow(1, consume), flows.then_some(PRODUCER));
}

const STORE: [Op; 1] = [Op::Store(AT_X, ARGUMENT)];
const LOAD: [Op; 1] = [Op::Load(A, AT_X)];
const USE: [Op; 1] = [Op::Use(A)];

#[test]
fn what_is_stored_in_one_section_and_used_after_another_flows() {
    check(&section(&STORE, &[]), &section(&LOAD, &USE), true);
    // Nothing uses it.
    check(
        &section(&STORE, &[]),
        &section(&LOAD, &[Op::Constant(A, 1), USE[0]]),
        false,
    );
    // Nothing is watched outside of sections.
    check(&STORE, &section(&LOAD, &USE), false);
    check(&section(&STORE, &[]), &[LOAD[0], USE[0]], false);
}

/// §3.2: constants and computed values are invalid, and stay so when they are moved.
#[test]
fn what_is_computed_in_a_section_does_not_flow() {
    let constant = [Op::StoreConstant(AT_X, 7)];
    check(&section(&constant, &[]), &section(&LOAD, &USE), false);
    let sum = [Op::Compute(ARGUMENT, 1, 8), STORE[0]];
    check(&section(&sum, &[]), &section(&LOAD, &USE), false);
    let spilled = [
        Op::Compute(ARGUMENT, 1, 8),
        Op::Store(At(STACK, -8), ARGUMENT),
        Op::Load(B, At(STACK, -8)),
        Op::Store(AT_X, B),
    ];
    check(&section(&spilled, &[]), &section(&LOAD, &USE), false);
    let null_in_a_register = [Op::Constant(ARGUMENT, 0)];
    let store_null = [&null_in_a_register[..], &section(&STORE, &[])].concat();
    check(&store_null, &section(&LOAD, &USE), false);
}

/// §3.3.2: a consumer leaves a constant in the queue, and another one moves it.
#[test]
fn a_constant_that_is_moved_is_no_product_of_who_moves_it() {
    let mut case = Case::new();
    case.run(0, &section(&[Op::StoreConstant(AT_X, 7)], &[]));
    case.run(1, &section(&[Op::Load(B, AT_X), Op::Store(AT_Y, B)], &[]));
    assert_eq!(case.flow(2, &section(&[Op::Load(A, AT_Y)], &USE)), None);
}

/// §3.2: a location belongs to the lock under which it was stored.
#[test]
fn another_lock_flushes_a_location() {
    let under_other = [
        Op::Lock(OTHER_LOCK),
        LOAD[0],
        Op::Unlock(OTHER_LOCK),
        USE[0],
    ];
    check(&section(&STORE, &[]), &under_other, false);
}

/// §3.3.2: two sections may share the inner lock of either.
#[test]
fn nested_locks_are_one_section() {
    let inner = [Op::Lock(OTHER_LOCK), STORE[0], Op::Unlock(OTHER_LOCK)];
    let under_inner = [
        Op::Lock(OTHER_LOCK),
        LOAD[0],
        Op::Unlock(OTHER_LOCK),
        USE[0],
    ];
    check(&section(&inner, &[]), &under_inner, true);
    check(&section(&inner, &[]), &section(&LOAD, &USE), true);
    let hand_over_hand = [
        Op::Lock(LOCK),
        Op::Lock(OTHER_LOCK),
        Op::Unlock(LOCK),
        LOAD[0],
        Op::Unlock(OTHER_LOCK),
        USE[0],
    ];
    check(&section(&inner, &[]), &hand_over_hand, true);
    let recursive = [Op::Lock(LOCK), Op::Unlock(LOCK), STORE[0]];
    check(&section(&recursive, &[]), &section(&LOAD, &USE), true);
}

#[test]
fn rule_1_only_earlier_sections_are_consumed() {
    let mut case = Case::new();
    let store_and_load = [STORE[0], LOAD[0]];
    assert_eq!(case.flow(0, &section(&store_and_load, &USE)), None);
    // Thread 0 does not consume its own product, so the list still flows.
    assert_eq!(case.flow(1, &section(&LOAD, &USE)), Some(PRODUCER));

    // Neither does thread 1, when it reads a product next to what it has stored itself.
    let beside = [
        Op::Load(C, AT_X),
        Op::Store(AT_Y, ARGUMENT),
        Op::Load(A, AT_Y),
    ];
    assert_eq!(case.flow(1, &section(&beside, &USE)), None);
    assert_eq!(case.flow(2, &section(&[Op::Load(A, AT_Y)], &USE)), Some(2));
}

#[test]
fn rule_1_stores_to_the_own_stack_produce_nothing() {
    let mut case = Case::new();
    case.run(0, &section(&[Op::Store(At(STACK, -8), ARGUMENT)], &[]));
    // Thread 1 finds it 64 KiB below its own stack.
    let load = [Op::Load(A, At(STACK, -8 - 0x1_0000))];
    let done = case.run(1, &section(&load, &USE));
    assert_eq!((done.result, done.consumed), (PRODUCT, None));
    assert_eq!(case.machine.detector.lists().count(), 0);
}

/// A waiter's node on its own stack, filled by another thread.
#[test]
fn rule_1_a_store_to_another_threads_stack_is_a_product() {
    let mut case = Case::new();
    // The waiter had used the same place for something that it consumed.
    case.run(2, &section(&STORE, &[]));
    case.run(1, &section(&[LOAD[0], Op::Store(At(STACK, -8), A)], &[]));
    case.run(
        0,
        &section(&[Op::Store(At(STACK, -8 + 0x1_0000), ARGUMENT)], &[]),
    );
    let load = [Op::Load(A, At(STACK, -8))];
    assert_eq!(case.flow(1, &section(&load, &USE)), Some(PRODUCER));
}

#[test]
fn rule_2_a_native_call_drops_the_registers_that_it_may_change() {
    for (register, flows) in [(C, false), (B, true)] {
        let load = [Op::Load(register, AT_X), Op::Call(1)];
        check(
            &section(&STORE, &[]),
            &section(&load, &[Op::Use(register)]),
            flows,
        );
        let load = [Op::Load(register, AT_X)];
        let call_after = [Op::Call(1), Op::Use(register)];
        check(&section(&STORE, &[]), &section(&load, &call_after), flows);
    }
}

#[test]
fn rule_2_a_section_begins_with_nothing_tagged() {
    let mut case = Case::new();
    case.run(0, &section(&STORE, &[]));
    // Thread 1 keeps a copy in a register and one on its stack, and uses neither.
    let keep = [Op::Load(B, AT_X), Op::Store(At(STACK, -8), B)];
    assert_eq!(case.flow(1, &section(&keep, &[])), None);
    let reload = [Op::Load(A, At(STACK, -8))];
    assert_eq!(case.flow(1, &section(&reload, &USE)), None);
    // What it stores now is its own.
    case.run(1, &section(&[Op::Store(AT_Y, B)], &[]));
    assert_eq!(case.flow(2, &section(&[Op::Load(A, AT_Y)], &USE)), Some(2));
}

#[test]
fn rule_3_a_node_that_is_allocated_within_the_section_carries_the_context() {
    let allocate = [Op::Call(PRODUCT), Op::Store(AT_X, A)];
    check(&section(&allocate, &[]), &section(&LOAD, &USE), true);
}

#[test]
fn rule_4_the_window_ends_with_the_first_use_and_tags_no_memory() {
    let mut case = Case::new();
    case.run(0, &section(&[STORE[0], Op::Store(AT_Y, ARGUMENT)], &[]));
    let both = [LOAD[0], Op::Load(C, AT_Y)];
    let uses = [Op::Copy(B, A), Op::Use(B), Op::Use(C)];
    assert_eq!(case.flow(1, &section(&both, &uses)), Some(PRODUCER));
    assert_eq!(
        case.machine
            .detector
            .flows()
            .iter()
            .map(|it| it.count)
            .sum::<u64>(),
        1
    );

    // Storing it elsewhere is a use as well.
    let away = [Op::Store(At(STACK, -8), A)];
    check(&section(&STORE, &[]), &section(&LOAD, &away), true);
    // What the section did not touch is no longer protected.
    let mut case = Case::new();
    case.run(0, &section(&[STORE[0], Op::Store(AT_Y, ARGUMENT)], &[]));
    let unprotected = [Op::Load(A, AT_Y), USE[0]];
    assert_eq!(case.flow(1, &section(&LOAD, &unprotected)), None);
    // A value that overwrites a product, or is loaded over one, is not a product.
    let replaced = [Op::Load(A, At(STACK, -64)), USE[0]];
    check(&section(&STORE, &[]), &section(&LOAD, &replaced), false);
}

#[test]
fn the_window_is_as_long_as_the_papers() {
    for (others, flows) in [(127, true), (128, false)] {
        let mut after = vec![Op::Use(C); others];
        after.push(USE[0]);
        check(&section(&STORE, &[]), &section(&LOAD, &after), flows);
    }
}

#[test]
fn rule_5_pointers_to_beside_themselves_are_invalid() {
    for (offset, flows) in [(0, false), (8, false), (16, false), (24, true), (-8, true)] {
        let produce = [
            &[Op::Constant(ARGUMENT, X)],
            &section(&[Op::Store(At(15, offset), ARGUMENT)], &[])[..],
        ]
        .concat();
        let load = [Op::Load(A, At(15, offset))];
        check(&produce, &section(&load, &USE), flows);
    }
}

#[test]
fn rule_6_what_was_overwritten_unseen_does_not_flow() {
    let mut case = Case::new();
    case.run(0, &section(&STORE, &[]));
    // Another program of thread 0, outside of any section.
    case.run(0, &[Op::StoreConstant(AT_X, 77)]);
    let done = case.run(1, &section(&LOAD, &USE));
    assert_eq!((done.result, done.consumed), (77, None));
    // The same on the consumer's stack.
    case.run(0, &section(&STORE, &[]));
    let keep = [LOAD[0], Op::Store(At(STACK, -8), A), Op::Constant(A, 0)];
    let after = [
        Op::StoreConstant(At(STACK, -8), 78),
        Op::Load(B, At(STACK, -8)),
        Op::Use(B),
    ];
    assert_eq!(case.flow(2, &section(&keep, &after)), None);
}

#[test]
fn rule_7_the_rest_of_a_long_section_runs_natively() {
    let mut case = Case::with_limits(Limits {
        section: 10,
        ..Limits::default()
    });
    let long = [&[Op::Compute(C, 1, 1); 10][..], &STORE].concat();
    case.run(0, &section(&long, &[]));
    assert_eq!(case.flow(1, &section(&LOAD, &USE)), None);
    assert_eq!(case.machine.detector.counts().too_long, 1);
    case.run(0, &section(&long[1..], &[]));
    assert_eq!(case.flow(1, &section(&LOAD, &USE)), Some(PRODUCER));
}

#[test]
fn rule_7_sites_at_which_something_flows_never_rest() {
    let learning = Learning {
        private: 4,
        flowless: 8,
        ..Learning::default()
    };
    let mut case = Case::with_limits(Limits {
        learning,
        ..Limits::default()
    });
    let [push, pop] = [(0, section(&STORE, &[])), (1, section(&LOAD, &USE))];
    let programs = [push, pop].map(|(thread, ops)| (thread, case.program(&ops)));
    for round in 0..100 {
        for (thread, program) in &programs {
            let done = case
                .machine
                .run(*thread, program, [PRODUCT, 0], Synopsis::EMPTY);
            assert_eq!(done.consumed.is_some(), *thread == 1, "round {round}");
        }
    }
    assert_eq!(case.machine.detector.counts().native, 0);
}

/// A word that two threads read in turns is shared, even if neither changes it. A word that only changed its owner is not.
#[test]
fn rule_7_what_threads_read_in_turns_is_not_private() {
    let turns: [(Vec<usize>, bool); 3] = [
        (vec![0; 40], true),
        ((0..40).map(|round| round % 2).collect(), false),
        ((0..40).map(|round| round.min(1)).collect(), true),
    ];
    for (threads, rests) in turns {
        let learning = Learning {
            private: 4,
            ..Learning::default()
        };
        let mut case = Case::with_limits(Limits {
            learning,
            ..Limits::default()
        });
        case.run(0, &[Op::StoreConstant(AT_X, 7)]);
        let read = case.program(&section(&LOAD, &[]));
        for &thread in &threads {
            case.machine.run(thread, &read, [0, 0], Synopsis::EMPTY);
        }
        let counts = case.machine.detector.counts();
        assert_eq!(counts.native > 0, rests, "{threads:?}");
    }
}

/// One lock for a queue and a free list, contrary to the paper's assumption (§3.1).
#[test]
fn rule_9_roles_are_by_producing_store() {
    let mut case = Case::new();
    let free = case.program(&section(&[Op::Store(AT_Y, ARGUMENT)], &[]));
    let allocate = section(&[Op::Load(A, AT_Y)], &USE);
    for thread in [0, 1] {
        case.machine
            .run(thread, &free, [PRODUCT, 0], Synopsis::EMPTY);
        case.run(1 - thread, &allocate);
    }
    case.run(0, &section(&STORE, &[]));
    assert_eq!(case.flow(1, &section(&LOAD, &USE)), Some(PRODUCER));
    let demoted: Vec<bool> = case.machine.detector.lists().map(|it| it.demoted).collect();
    assert_eq!(demoted, [true, false]);
}

/// §3.2: "we infer that transaction flow is not occurring".
#[test]
fn a_thread_in_both_roles_ends_the_flow_and_takes_back_what_was_seen() {
    let mut case = Case::new();
    let consume = section(&LOAD, &USE);
    let produce = case.program(&section(&STORE, &[]));
    let store = |case: &mut Case, thread| {
        let context = Synopsis::from_number(PRODUCER);
        case.machine.run(thread, &produce, [PRODUCT, 0], context);
    };
    store(&mut case, 0);
    assert!(case.flow(1, &consume).is_some());
    assert_eq!(case.machine.detector.flows().len(), 1);
    store(&mut case, 1);
    assert!(case.flow(2, &consume).is_none());
    assert_eq!(case.machine.detector.flows(), []);
    let lists: Vec<_> = case.machine.detector.lists().collect();
    assert_eq!(lists.len(), 1);
    assert!(lists[0].demoted && lists[0].lock.0 == LOCK);
    assert_eq!(lists[0].consumed, 1);
}

#[test]
fn a_thread_that_ends_leaves_nothing_on_its_stack() {
    let mut case = Case::new();
    case.run(0, &section(&STORE, &[]));
    case.run(1, &section(&[LOAD[0], Op::Store(At(STACK, -8), A)], &[]));
    let before = case.machine.detector.words();
    case.machine.detector.end_thread(ThreadId(1));
    assert_eq!(case.machine.detector.words(), before - 1);
}

#[test]
fn an_unlock_without_a_lock_is_counted_and_changes_nothing() {
    let mut case = Case::new();
    let detector = &mut case.machine.detector;
    let lock = fulcrum_transactions::LockId(LOCK);
    let _ = detector.leave(ThreadId(0), lock, &[], |_| Synopsis::EMPTY);
    assert_eq!(detector.counts().stray_unlocks, 1);
    case.run(0, &section(&STORE, &[]));
    assert_eq!(case.flow(1, &section(&LOAD, &USE)), Some(PRODUCER));
}

#[test]
fn memory_is_bounded() {
    let mut case = Case::with_limits(Limits {
        words: 100,
        ..Limits::default()
    });
    for n in 0..500 {
        let store = [Op::Store(At(15, 64 + 8 * n), ARGUMENT)];
        case.run(0, &section(&store, &[]));
        assert!(case.machine.detector.words() <= 100);
    }
    assert!(case.machine.detector.counts().forgotten_words >= 400);
    // The latest words are the ones that are known.
    let load = [Op::Load(A, At(15, 64 + 8 * 499))];
    assert_eq!(case.flow(1, &section(&load, &USE)), Some(PRODUCER));
}
