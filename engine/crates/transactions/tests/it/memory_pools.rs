//! Lists of free objects that some threads only fill and others only empty, and the queues that look like them (rule 10).

use std::collections::HashMap;

use fulcrum_transactions::Synopsis;
use fulcrum_transactions::memory::FlowDetector;

use crate::support::machine::{Machine, Program};
use crate::support::programs::{
    Shared, allocate, array_pop, array_push, free, list_pop, list_push,
};

const ROUNDS: u32 = 400;
const QUEUE: Shared = Shared {
    lock: 0x60_0000,
    address: 0x60_1000,
};
const BACK: Shared = Shared {
    lock: 0x61_0000,
    address: 0x61_1000,
};
/// Another list under the queue's lock.
const BACK_UNDER_THE_SAME_LOCK: Shared = Shared {
    lock: QUEUE.lock,
    address: 0x61_1000,
};
/// What comes back has contexts from this number on.
const ANSWERS: u32 = 100_000;

/// A list: how something is put in and taken out.
struct Way {
    shared: Shared,
    push: Program,
    pop: Program,
}

impl Way {
    /// First in, first out.
    fn queue(shared: Shared) -> Way {
        let (push, pop) = (list_push(shared), list_pop(shared));
        Way { shared, push, pop }
    }

    /// Last in, first out, linked through its objects.
    fn stack(shared: Shared) -> Way {
        let (push, pop) = (free(shared), allocate(shared));
        Way { shared, push, pop }
    }
}

fn object(number: u32) -> u64 {
    0x10_0000 + 64 * u64::from(number)
}

fn machine(ways: &[&Way], seed: u64) -> Machine {
    let mut machine = Machine::new(FlowDetector::default(), 4, seed);
    for way in ways {
        if way.push.code == list_push(way.shared).code {
            let Shared { address, .. } = way.shared;
            machine.memory.insert(address + 8, address);
        }
    }
    machine
}

/// What went each way, and how much of it brought its context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Went {
    there: u32,
    flowed_there: u32,
    back: u32,
    flowed_back: u32,
}

/// Thread 0 sends objects that have come back, or new ones, to threads 1 and 2, which give them back. Every object brings its own
/// context there, or nothing.
fn go_round(machine: &mut Machine, there: &Way, back: &Way) -> Went {
    let mut went = Went::default();
    let mut made = 0;
    let mut sent_as: HashMap<u64, u32> = HashMap::new();
    let mut came_back_as: HashMap<u64, u32> = HashMap::new();
    for _ in 0..ROUNDS {
        for _ in 0..2 + machine.random.index(3) {
            let taken = machine.run(0, &back.pop, [0, 0], Synopsis::EMPTY);
            let from = taken.consumed.map(|it| it.from.number());
            let object = match taken.result {
                0 => {
                    made += 1;
                    assert_eq!(from, None);
                    object(made)
                }
                object => {
                    went.back += 1;
                    if from.is_some() {
                        assert_eq!(from, came_back_as.get(&object).copied());
                        went.flowed_back += 1;
                    }
                    object
                }
            };
            went.there += 1;
            sent_as.insert(object, went.there);
            let context = Synopsis::from_number(went.there);
            machine.run(0, &there.push, [object, 0], context);
        }
        let mut held = Vec::new();
        loop {
            let worker = 1 + machine.random.index(2);
            let taken = machine.run(worker, &there.pop, [0, 0], Synopsis::EMPTY);
            if taken.result == 0 {
                break;
            }
            if let Some(flow) = taken.consumed {
                assert_eq!(flow.from.number(), sent_as[&taken.result]);
                went.flowed_there += 1;
            }
            held.push((worker, taken.result));
        }
        while !held.is_empty() {
            let (worker, object) = held.swap_remove(machine.random.index(held.len()));
            let number = ANSWERS + sent_as[&object];
            came_back_as.insert(object, number);
            let context = Synopsis::from_number(number);
            machine.run(worker, &back.push, [object, 0], context);
        }
        // As the program's threads do.
        while machine.detector.take_demoted().is_some() {}
    }
    went
}

/// Whether requests flowed in the end, and whether answers did.
fn flows(machine: &Machine) -> (bool, bool) {
    let flows = machine.detector.flows();
    let of_answers = |number: u32| number >= ANSWERS;
    (
        flows.iter().any(|it| !of_answers(it.from.number())),
        flows.iter().any(|it| of_answers(it.from.number())),
    )
}

/// memcached's connections: the main thread takes a free item and hands it to a worker, which frees it.
#[test]
fn a_list_of_free_objects_with_its_roles_apart_is_no_flow() {
    for shared in [BACK, BACK_UNDER_THE_SAME_LOCK] {
        for seed in 0..5 {
            let (there, back) = (Way::queue(QUEUE), Way::stack(shared));
            let mut machine = machine(&[&there, &back], seed);
            let went = go_round(&mut machine, &there, &back);
            assert_eq!(went.flowed_there, went.there, "seed {seed}");
            assert!(went.back > 500 && went.flowed_back < 60, "{went:?}");
            assert_eq!(flows(&machine), (true, false), "seed {seed}");
            let demoted = machine.detector.lists().filter(|it| it.demoted);
            let demoted: Vec<u64> = demoted.map(|it| it.lock.0).collect();
            assert_eq!(demoted, [shared.lock], "seed {seed}");
        }
    }
}

/// As in libuv, where an object takes work to a thread and its result back to the loop.
#[test]
fn a_queue_of_answers_flows_although_the_same_objects_come_back() {
    for seed in 0..5 {
        let (there, back) = (Way::queue(QUEUE), Way::queue(BACK));
        let mut machine = machine(&[&there, &back], seed);
        let went = go_round(&mut machine, &there, &back);
        assert_eq!(went.flowed_there, went.there, "seed {seed}");
        assert_eq!(went.flowed_back, went.back, "seed {seed}");
        assert_eq!(flows(&machine), (true, true), "seed {seed}");
    }
}

/// A pool of threads that takes the latest task first. Its tasks are used again.
#[test]
fn a_stack_of_tasks_flows_because_its_first_task_is_new() {
    let backs: [fn(Shared) -> Way; 2] = [Way::queue, Way::stack];
    for (back, answers_flow) in backs.into_iter().zip([true, false]) {
        for seed in 0..5 {
            let (there, back) = (Way::stack(QUEUE), back(BACK));
            let mut machine = machine(&[&there, &back], seed);
            let went = go_round(&mut machine, &there, &back);
            assert_eq!(went.flowed_there, went.there, "seed {seed}");
            assert_eq!(flows(&machine), (true, answers_flow), "seed {seed}");
        }
    }
}

/// Somebody has filled the list of free objects before. Then nothing tells it from a queue, and the queue stays one.
#[test]
fn a_queue_flows_whose_free_objects_were_made_beforehand() {
    for seed in 0..5 {
        let (there, back) = (Way::queue(QUEUE), Way::stack(BACK));
        let mut machine = machine(&[&there, &back], seed);
        for number in 0..8 {
            let arguments = [object(1000 + number), 0];
            machine.run(3, &back.push, arguments, Synopsis::EMPTY);
        }
        let mut went = Went::default();
        for _ in 0..ROUNDS {
            let object = machine.run(0, &back.pop, [0, 0], Synopsis::EMPTY).result;
            went.there += 1;
            let context = Synopsis::from_number(went.there);
            machine.run(0, &there.push, [object, 0], context);
            let taken = machine.run(1, &there.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(context));
            machine.run(1, &back.push, [taken.result, 0], Synopsis::EMPTY);
        }
    }
}

/// Objects go on from a queue to a stack to a third thread, and are not given back to where they came from.
#[test]
fn a_stack_between_two_stages_flows() {
    let middle = Way::stack(Shared {
        lock: 0x62_0000,
        address: 0x62_1000,
    });
    let (first, unused) = (Way::queue(QUEUE), Way::stack(BACK));
    let mut machine = machine(&[&first, &middle, &unused], 1);
    let mut made = 0;
    for round in 1..=ROUNDS {
        let context = Synopsis::from_number(round);
        for _ in 0..3 {
            let object = match machine.run(0, &unused.pop, [0, 0], Synopsis::EMPTY).result {
                0 => {
                    made += 1;
                    object(made)
                }
                object => object,
            };
            machine.run(0, &first.push, [object, 0], context);
        }
        let after = Synopsis::from_number(ANSWERS + round);
        for _ in 0..3 {
            let taken = machine.run(1, &first.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(context), "{round}");
            machine.run(1, &middle.push, [taken.result, 0], after);
        }
        for _ in 0..3 {
            let taken = machine.run(2, &middle.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(after), "{round}");
            machine.run(2, &unused.push, [taken.result, 0], Synopsis::EMPTY);
        }
        while machine.detector.take_demoted().is_some() {}
    }
}

/// Apache: a connection and the pool of memory for it go through an array, and pools are used again.
#[test]
fn a_queue_of_connections_flows_whose_pools_are_recycled() {
    let recycled = Way::stack(BACK);
    let connections = Way {
        shared: QUEUE,
        push: array_push(QUEUE),
        pop: array_pop(QUEUE),
    };
    let mut machine = machine(&[&recycled, &connections], 1);
    let mut made = 0;
    for round in 1..=ROUNDS {
        let mut waiting = Vec::new();
        for n in 0..3 {
            let number = 3 * round + n;
            let pool = match machine
                .run(0, &recycled.pop, [0, 0], Synopsis::EMPTY)
                .result
            {
                0 => {
                    made += 1;
                    object(made)
                }
                pool => pool,
            };
            let connection = 0x40_0000 + 64 * u64::from(number % 7);
            let context = Synopsis::from_number(number);
            machine.run(0, &connections.push, [connection, pool], context);
            waiting.push((context, pool));
        }
        while let Some((context, pool)) = waiting.pop() {
            let worker = 1 + waiting.len() % 2;
            let taken = machine.run(worker, &connections.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(context), "{round}");
            machine.run(worker, &recycled.push, [pool, 0], Synopsis::EMPTY);
        }
        while machine.detector.take_demoted().is_some() {}
    }
}
