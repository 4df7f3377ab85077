//! Flow through shared memory under a random scheduler. The values show which thread really consumed what.

use std::collections::HashMap;

use fulcrum_stats::Random;
use fulcrum_transactions::memory::FlowDetector;
use fulcrum_transactions::{Activity, Dictionary, ProcessId, Synopsis, ThreadId};

use crate::support::machine::{Done, Machine, Program};
use crate::support::programs::{
    Shared, allocate, array_pop, array_push, count, free, list_pop, list_push, moving_pop,
    moving_push,
};
use crate::support::{path, shown};

const QUEUE: Shared = Shared {
    lock: 0x60_0000,
    address: 0x60_1000,
};
const NEXT_QUEUE: Shared = Shared {
    lock: 0x61_0000,
    address: 0x61_1000,
};

/// An item is the address of a node; nodes are 64 bytes apart.
fn item(number: u32) -> u64 {
    0x10_0000 + 64 * u64::from(number)
}

/// Every item has its own context, so no flow is right by chance.
fn context_of(item: u64) -> Synopsis {
    Synopsis::from_number(((item - 0x10_0000) / 64) as u32 + 1)
}

const CONSUMER: Synopsis = Synopsis::EMPTY;

/// Producers push items and consumers pop them, in random order, until all are consumed.
fn check_queue(push: &Program, pop: &Program, producers: usize, consumers: usize, seed: u64) {
    const ITEMS: u32 = 100;
    let threads = producers + consumers;
    let mut machine = Machine::new(FlowDetector::default(), threads as u32, seed);
    machine.memory.insert(QUEUE.address + 8, initial_tail(push));
    let (mut pushed, mut popped) = (0, 0);
    let mut producer_of = HashMap::new();
    while popped < ITEMS {
        for thread in 0..threads {
            if !machine.is_idle(thread) {
                continue;
            }
            if thread >= producers {
                machine.start(thread, pop, [0, 0], CONSUMER);
            } else if pushed < ITEMS {
                let item = item(pushed);
                producer_of.insert(item, ThreadId(thread as u32));
                machine.start(thread, push, [item, item + 8], context_of(item));
                pushed += 1;
            }
        }
        let Some((thread, Done { result, consumed })) = machine.step_any() else {
            continue;
        };
        if thread < producers || result == 0 {
            assert_eq!(
                consumed, None,
                "seed {seed}: thread {thread} consumed nothing"
            );
            continue;
        }
        let flow =
            consumed.unwrap_or_else(|| panic!("seed {seed}: {result:x} came without its context"));
        assert_eq!(flow.from, context_of(result), "seed {seed}");
        assert_eq!(flow.producer, producer_of[&result], "seed {seed}");
        assert_eq!(flow.consumer, ThreadId(thread as u32), "seed {seed}");
        assert_eq!(flow.lock.0, QUEUE.lock, "seed {seed}");
        popped += 1;
    }
    let flows = machine.detector.flows();
    assert_eq!(
        flows.len(),
        ITEMS as usize,
        "seed {seed}: one for each item"
    );
    assert!(flows.iter().all(|it| it.count == 1), "seed {seed}");
}

/// An empty `STAILQ`'s tail is its head; an array's counter is 0.
fn initial_tail(push: &Program) -> u64 {
    match push.code == list_push(QUEUE).code {
        true => QUEUE.address,
        false => 0,
    }
}

/// Figure 1 and §3.3.2.
#[test]
fn every_item_of_a_queue_brings_its_producers_context() {
    let queues = [
        (array_push(QUEUE), array_pop(QUEUE)),
        (list_push(QUEUE), list_pop(QUEUE)),
        (moving_push(QUEUE), moving_pop(QUEUE)),
    ];
    for (push, pop) in &queues {
        for seed in 0..5 {
            for (producers, consumers) in [(1, 1), (1, 4), (3, 1), (3, 4)] {
                check_queue(push, pop, producers, consumers, seed);
            }
        }
    }
}

/// Runs threads that repeatedly run one of some programs.
fn run_randomly(
    machine: &mut Machine,
    threads: usize,
    rounds: u32,
    mut next: impl FnMut(usize, &mut Random) -> (Program, u64),
) -> Vec<(usize, Done)> {
    let mut random = Random::new(99);
    let mut ended = Vec::new();
    while ended.len() < rounds as usize {
        for thread in 0..threads {
            if machine.is_idle(thread) {
                let (program, argument) = next(thread, &mut random);
                let context = Synopsis::from_number(thread as u32 + 1);
                machine.start(thread, &program, [argument, 0], context);
            }
        }
        ended.extend(machine.step_any());
    }
    ended
}

/// Figure 2.
#[test]
fn a_counter_is_no_flow() {
    for seed in 0..10 {
        let mut machine = Machine::new(FlowDetector::default(), 4, seed);
        let ended = run_randomly(&mut machine, 4, 1000, |_, _| (count(QUEUE), 0));
        assert!(
            ended.iter().all(|(_, done)| done.consumed.is_none()),
            "seed {seed}"
        );
        let mut numbers: Vec<u64> = ended.iter().map(|(_, done)| done.result).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=1000).collect::<Vec<u64>>(), "it does count");
        assert_eq!(machine.detector.lists().count(), 0);
    }
}

/// Figure 3: every thread allocates and frees.
#[test]
fn an_allocator_is_no_flow() {
    for seed in 0..10 {
        let mut machine = Machine::new(FlowDetector::default(), 4, seed);
        let mut objects = 0;
        let mut owned: Vec<Vec<u64>> = vec![Vec::new(); 4];
        let mut flows = 0;
        let mut late_flows = 0;
        for round in 0..2000_usize {
            let thread = machine.random.index(4);
            let frees = !owned[thread].is_empty() && machine.random.below(2) == 0;
            let context = Synopsis::from_number(thread as u32 + 1);
            if frees {
                let object = owned[thread].pop().unwrap();
                machine.run(thread, &free(QUEUE), [object, 0], context);
                continue;
            }
            let done = machine.run(thread, &allocate(QUEUE), [0, 0], context);
            flows += usize::from(done.consumed.is_some());
            late_flows += usize::from(done.consumed.is_some() && round > 100);
            let object = match done.result {
                0 => {
                    objects += 1;
                    item(objects)
                }
                object => object,
            };
            owned[thread].push(object);
        }
        assert_eq!(late_flows, 0, "seed {seed}");
        assert!(
            flows <= 4,
            "seed {seed}: {flows} before a thread had both roles"
        );
        assert_eq!(machine.detector.flows(), [], "seed {seed}");
        let lists: Vec<_> = machine.detector.lists().collect();
        assert!(
            lists.iter().any(|it| it.demoted)
                && lists.iter().all(|it| it.demoted || it.consumed == 0),
            "seed {seed}: {lists:?}"
        );
    }
}

/// Pool threads take from one queue and put into the next with the same code, so roles depend on the lock, too.
#[test]
fn a_pipeline_concatenates_the_contexts_of_its_stages() {
    for seed in 0..10 {
        let mut dictionary = Dictionary::new(ProcessId(1));
        let mut machine = Machine::new(FlowDetector::default(), 3, seed);
        let mut activities = vec![Activity::default(); 3];
        for number in 0..100 {
            let hand_on = |thread: usize,
                           call: &str,
                           dictionary: &mut Dictionary,
                           activities: &mut [Activity]| {
                let step = path(dictionary, call);
                activities[thread].hand_on(dictionary, step)
            };
            let produced = hand_on(0, "listener > push", &mut dictionary, &mut activities);
            machine.run(0, &array_push(QUEUE), [item(number), 1], produced);
            let taken = machine.run(1, &array_pop(QUEUE), [0, 0], CONSUMER);
            assert_eq!(taken.result, item(number));
            activities[1].take_over(&dictionary, taken.consumed.expect("from the listener").from);
            let produced = hand_on(1, "parser > push", &mut dictionary, &mut activities);
            machine.run(1, &array_push(NEXT_QUEUE), [taken.result, 1], produced);
            let taken = machine.run(2, &array_pop(NEXT_QUEUE), [0, 0], CONSUMER);
            activities[2].take_over(&dictionary, taken.consumed.expect("from the parser").from);
            assert_eq!(
                shown(&dictionary, activities[2].context()),
                ["listener > push", "parser > push"]
            );
        }
        assert_eq!(
            machine
                .detector
                .flows()
                .iter()
                .map(|it| it.count)
                .sum::<u64>(),
            200
        );
    }
}

/// Like MariaDB's connections: a mutex for each, and one place in the program that takes it.
#[test]
fn locks_that_no_other_thread_takes_are_soon_left_alone() {
    let mut machine = Machine::new(FlowDetector::default(), 4, 1);
    let own = |thread: usize| Shared {
        lock: 0x80_0000 + thread as u64,
        address: 0x90_0000 + 64 * thread as u64,
    };
    run_randomly(&mut machine, 4, 20_000, |thread, _| (count(own(thread)), 0));
    let counts = machine.detector.counts();
    assert!(counts.watched < 400, "{counts:?}");
    assert!(counts.watched + counts.native >= 20_000, "{counts:?}");
}

/// Two queues in sequence, served by the same code, with everything interleaved.
#[test]
fn every_item_of_a_pipeline_brings_the_context_of_the_stage_before() {
    const ITEMS: u32 = 60;
    let after = |context: Synopsis| Synopsis::from_number(context.number() + 1000);
    let (push, pop) = (list_push(QUEUE), list_pop(QUEUE));
    let (push_next, pop_next) = (list_push(NEXT_QUEUE), list_pop(NEXT_QUEUE));
    for seed in 0..10 {
        let mut machine = Machine::new(FlowDetector::default(), 6, seed);
        for queue in [QUEUE, NEXT_QUEUE] {
            machine.memory.insert(queue.address + 8, queue.address);
        }
        // Threads 0 and 1 accept, 2 and 3 parse, 4 and 5 answer.
        let (mut accepted, mut answered) = (0, 0);
        let mut taken: [Option<u64>; 6] = [None; 6];
        let mut pushes = [true, true, false, false, false, false];
        while answered < ITEMS {
            for thread in 0..6 {
                if !machine.is_idle(thread) {
                    continue;
                }
                match (thread, taken[thread].take()) {
                    (0 | 1, _) if accepted < ITEMS => {
                        let item = item(accepted);
                        machine.start(thread, &push, [item, 0], context_of(item));
                        accepted += 1;
                    }
                    (0 | 1, _) => {}
                    (2 | 3, Some(item)) => {
                        machine.start(thread, &push_next, [item, 0], after(context_of(item)));
                        pushes[thread] = true;
                    }
                    (2 | 3, None) => {
                        machine.start(thread, &pop, [0, 0], CONSUMER);
                        pushes[thread] = false;
                    }
                    _ => machine.start(thread, &pop_next, [0, 0], CONSUMER),
                }
            }
            let Some((thread, Done { result, consumed })) = machine.step_any() else {
                continue;
            };
            if pushes[thread] || result == 0 {
                assert_eq!(consumed, None, "seed {seed}");
                continue;
            }
            let from = consumed.expect("an item comes with its context").from;
            if thread < 4 {
                assert_eq!(from, context_of(result), "seed {seed}");
                taken[thread] = Some(result);
            } else {
                assert_eq!(from, after(context_of(result)), "seed {seed}");
                answered += 1;
            }
        }
        let flows = machine.detector.flows();
        assert_eq!(flows.len(), 2 * ITEMS as usize, "seed {seed}");
    }
}

/// A server whose threads share a queue, a counter and an allocator, and have a lock each. Everything in the queue flows
/// and nothing else does, while the sites of the other locks come to rest.
#[test]
fn of_all_that_a_server_shares_only_its_queue_flows() {
    const COUNTER: Shared = NEXT_QUEUE;
    const HEAP: Shared = Shared {
        lock: 0x62_0000,
        address: 0x62_1000,
    };
    let private = |thread: usize| Shared {
        lock: 0x63_0000 + 64 * thread as u64,
        address: 0x64_0000 + 64 * thread as u64,
    };
    for seed in 0..5 {
        let mut machine = Machine::new(FlowDetector::default(), 4, seed);
        machine.memory.insert(QUEUE.address + 8, QUEUE.address);
        let mut random = Random::new(seed);
        let mut owned: [Vec<u64>; 4] = Default::default();
        let mut running: [u64; 4] = [0; 4];
        let (mut pushed, mut popped, mut blocks) = (0, 0, 0x50_0000);
        while popped < 300 {
            for thread in 0..4 {
                if !machine.is_idle(thread) {
                    continue;
                }
                let (program, argument) = match random.below(8) {
                    0..2 if thread >= 2 => (list_pop(QUEUE), 0),
                    0..2 => {
                        pushed += 1;
                        (list_push(QUEUE), item(pushed))
                    }
                    2 => (count(COUNTER), 0),
                    3 => (allocate(HEAP), 0),
                    4 if !owned[thread].is_empty() => (free(HEAP), owned[thread].pop().unwrap()),
                    _ => (private_count(private(thread)), 0),
                };
                running[thread] = program.code;
                let context = match argument {
                    0 => Synopsis::EMPTY,
                    item if program.code == list_push(QUEUE).code => context_of(item),
                    _ => Synopsis::from_number(5000 + thread as u32),
                };
                machine.start(thread, &program, [argument, 0], context);
            }
            let Some((thread, Done { result, consumed })) = machine.step_any() else {
                continue;
            };
            if running[thread] == allocate(HEAP).code {
                blocks += 64;
                owned[thread].push(if result == 0 { blocks } else { result });
            } else if running[thread] == list_pop(QUEUE).code && result != 0 {
                assert_eq!(
                    consumed.map(|it| it.from),
                    Some(context_of(result)),
                    "seed {seed}"
                );
                popped += 1;
            } else {
                assert_eq!(consumed, None, "seed {seed}");
            }
        }
        let flows = machine.detector.flows();
        assert_eq!(flows.len(), 300, "seed {seed}");
        assert!(
            flows.iter().all(|it| it.from.number() < 5000),
            "seed {seed}"
        );
        assert!(machine.detector.counts().native > 0, "seed {seed}");
    }
}

/// The same as [`count`], at another place in the code.
fn private_count(own: Shared) -> Program {
    Program::new(0xa000, count(own).ops.to_vec())
}
