//! Lists of free objects that some threads only fill and others only empty, and the queues that look like them (rule 10).

use std::collections::HashMap;

use fulcrum_transactions::Synopsis;
use fulcrum_transactions::memory::FlowDetector;

use crate::support::machine::{ARGUMENT, At, Machine, Op, Program};
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

/// What a thread does with an object that it has taken, given as the argument: before the first word, it does nothing.
fn dealing(code: u64, ops: &[Op]) -> Program {
    let result = [Op::Return(ARGUMENT)];
    Program::new(code, [ops, &result].concat())
}

const WRITE: Op = Op::StoreConstant(At(ARGUMENT, 16), 7);
const WRITE_OTHER: Op = Op::StoreConstant(At(ARGUMENT, 32), 7);
const READ: Op = Op::Load(0, At(ARGUMENT, 16));

/// Fills a request.
fn filling() -> Program {
    dealing(0xa000, &[WRITE, WRITE_OTHER, READ])
}

/// Works for a request.
fn working() -> Program {
    dealing(0xb000, &[READ, WRITE])
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

/// What threads do with objects: with those that come back, and with those that come there.
struct Dealings {
    back: Program,
    there: Program,
}

impl Dealings {
    fn of_requests() -> Self {
        Dealings {
            back: filling(),
            there: working(),
        }
    }
}

/// Thread 0 sends objects that have come back, or new ones, to threads 1 and 2, which give them back. Every object brings its own
/// context there, or nothing.
fn go_round(machine: &mut Machine, there: &Way, back: &Way, dealings: &Dealings) -> Went {
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
                    if from.is_some_and(|it| it > 0) {
                        assert_eq!(from, came_back_as.get(&object).copied());
                        went.flowed_back += 1;
                    }
                    object
                }
            };
            machine.run(0, &dealings.back, [object, 0], Synopsis::EMPTY);
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
            machine.run(worker, &dealings.there, [taken.result, 0], Synopsis::EMPTY);
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

/// The locks of demoted lists.
fn demoted(machine: &Machine) -> Vec<u64> {
    let demoted = machine.detector.lists().filter(|it| it.demoted);
    demoted.map(|it| it.lock.0).collect()
}

/// memcached's connections: the main thread takes a free item and hands it to a worker, which frees it.
#[test]
fn a_list_of_free_objects_with_its_roles_apart_is_no_flow() {
    let lists: [fn() -> Way; 3] = [
        || Way::stack(BACK),
        || Way::queue(BACK),
        || Way::stack(BACK_UNDER_THE_SAME_LOCK),
    ];
    for back in lists {
        for seed in 0..5 {
            let (there, back) = (Way::queue(QUEUE), back());
            let mut machine = machine(&[&there, &back], seed);
            let went = go_round(&mut machine, &there, &back, &Dealings::of_requests());
            assert_eq!(went.flowed_there, went.there, "seed {seed}");
            assert!(went.back > 500 && went.flowed_back < 60, "{went:?}");
            assert_eq!(flows(&machine), (true, false), "seed {seed}");
            let lock = back.shared.lock;
            assert!(demoted(&machine).contains(&lock), "seed {seed}");
        }
    }
}

/// As in libuv, where an object takes work to a thread and its result back to the loop.
#[test]
fn a_queue_of_answers_flows_although_the_same_objects_come_back() {
    let dealings = Dealings {
        back: dealing(0xa000, &[WRITE_OTHER, READ, WRITE]),
        there: working(),
    };
    for ways in [Way::queue, Way::stack] {
        for seed in 0..5 {
            let (there, back) = (ways(QUEUE), ways(BACK));
            let mut machine = machine(&[&there, &back], seed);
            let went = go_round(&mut machine, &there, &back, &dealings);
            assert_eq!(went.flowed_there, went.there, "seed {seed}");
            assert_eq!(went.flowed_back, went.back, "seed {seed}");
            assert_eq!(flows(&machine), (true, true), "seed {seed}");
        }
    }
}

/// A worker that writes to a task before it reads the task, or reads the task only in a native function or under another lock, gets
/// it from a queue.
#[test]
fn a_queue_flows_whose_tasks_are_written_to_first_or_read_late() {
    const OWN: u64 = 0x63_0000;
    let ways: [&[Op]; 4] = [
        &[WRITE_OTHER, READ],
        &[WRITE, Op::Call(1), READ],
        &[WRITE, Op::Lock(OWN), Op::Unlock(OWN), READ],
        &[WRITE, Op::AddToMemory(At(ARGUMENT, 32), 1)],
    ];
    for there in [Way::queue, Way::stack] {
        for ops in ways {
            let dealings = Dealings {
                back: filling(),
                there: dealing(0xb000, ops),
            };
            let (there, back) = (there(QUEUE), Way::stack(BACK));
            let mut machine = machine(&[&there, &back], 3);
            let went = go_round(&mut machine, &there, &back, &dealings);
            assert_eq!(went.flowed_there, went.there, "{ops:?}");
            assert_eq!(flows(&machine), (true, false), "{ops:?}");
        }
    }
}

/// A thread fills a list of free objects before anything else.
#[test]
fn a_queue_flows_whose_free_objects_were_made_beforehand() {
    for there in [Way::queue, Way::stack] {
        let (there, back) = (there(QUEUE), Way::stack(BACK));
        let mut machine = machine(&[&there, &back], 1);
        for number in 0..8 {
            let arguments = [object(1000 + number), 0];
            machine.run(3, &back.push, arguments, Synopsis::EMPTY);
        }
        let went = go_round(&mut machine, &there, &back, &Dealings::of_requests());
        assert_eq!(went.flowed_there, went.there);
        assert_eq!(demoted(&machine), [BACK.lock]);
    }
}

/// Nothing is known about what a thread does that takes free objects and is not watched on its way to the queue.
#[test]
fn what_is_not_seen_says_nothing() {
    let dealings = Dealings {
        back: dealing(0xa000, &[WRITE, Op::Call(1)]),
        there: working(),
    };
    let (there, back) = (Way::queue(QUEUE), Way::stack(BACK));
    let mut machine = machine(&[&there, &back], 1);
    let went = go_round(&mut machine, &there, &back, &dealings);
    assert_eq!(went.flowed_there, went.there);
    assert_eq!(demoted(&machine), Vec::<u64>::new());
}

/// Objects go on from a queue to a stack to a third thread, which gives them back to where the first one gets them. The second
/// thread only notes that they have passed.
#[test]
fn what_a_stage_passes_on_unread_flows() {
    let middle = Way::stack(Shared {
        lock: 0x62_0000,
        address: 0x62_1000,
    });
    let (first, unused) = (Way::queue(QUEUE), Way::stack(BACK));
    let mut machine = machine(&[&first, &middle, &unused], 1);
    let mut made = 0;
    let passing = dealing(0xc000, &[WRITE_OTHER]);
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
            machine.run(0, &filling(), [object, 0], context);
            machine.run(0, &first.push, [object, 0], context);
        }
        let after = Synopsis::from_number(ANSWERS + round);
        for _ in 0..3 {
            let taken = machine.run(1, &first.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(context), "{round}");
            machine.run(1, &passing, [taken.result, 0], after);
            machine.run(1, &middle.push, [taken.result, 0], after);
        }
        for _ in 0..3 {
            let taken = machine.run(2, &middle.pop, [0, 0], Synopsis::EMPTY);
            assert_eq!(taken.consumed.map(|it| it.from), Some(after), "{round}");
            machine.run(2, &working(), [taken.result, 0], after);
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
            let pop = &recycled.pop;
            let pool = match machine.run(0, pop, [0, 0], Synopsis::EMPTY).result {
                0 => {
                    made += 1;
                    object(made)
                }
                pool => pool,
            };
            machine.run(0, &filling(), [pool, 0], Synopsis::EMPTY);
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
