//! A machine with a few instructions, whose threads are interleaved by a random scheduler, under a `FlowDetector`.
//!
//! It runs real programs: registers and memory hold values, and locks exclude. So the values show what really flowed.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_stats::Random;
use fulcrum_transactions::memory::{
    Consumption, Effect, FlowDetector, Mode, Place, Reaction, Register, Span,
};
use fulcrum_transactions::{CodeAddress, LockId, Synopsis, ThreadId};

/// A register by its number.
pub(crate) type R = u8;

pub(crate) const STACK: R = 4;
/// Callee-saved registers, in which programs find their arguments.
pub(crate) const ARGUMENT: R = 12;
pub(crate) const OTHER_ARGUMENT: R = 13;

/// The address in a register plus an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub R, pub i64);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Lock(u64),
    Unlock(u64),
    Load(R, At),
    Store(At, R),
    StoreConstant(At, u64),
    Constant(R, u64),
    Copy(R, R),
    /// Register = register · factor + summand.
    Compute(R, u64, i64),
    AddToMemory(At, i64),
    Use(R),
    /// Calls a native function that leaves this value in `rax`.
    Call(u64),
    JumpIfZero(R, usize),
    Jump(usize),
    /// Ends the program with the result in this register.
    Return(R),
}

/// A program, and the address of its code.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub code: u64,
    pub ops: Rc<Vec<Op>>,
}

impl Program {
    pub(crate) fn new(code: u64, ops: Vec<Op>) -> Self {
        let ops = Rc::new(ops);
        Program { code, ops }
    }
}

struct Thread {
    id: ThreadId,
    registers: [u64; 16],
    mode: Mode,
    context: Synopsis,
    program: Option<(Program, usize)>,
    result: u64,
    consumed: Option<Consumption>,
}

impl Thread {
    fn react(&mut self, reaction: Reaction) {
        self.mode = reaction.mode();
        if let Reaction::Consumed(it, _) = reaction {
            self.consumed = Some(it);
        }
    }
}

/// What a thread did when it ran a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// What the program returned.
    pub result: u64,
    /// The transaction that it took over, if any.
    pub consumed: Option<Consumption>,
}

pub(crate) struct Machine {
    pub detector: FlowDetector,
    pub memory: HashMap<u64, u64>,
    pub random: Random,
    /// The holder of each lock, and its recursion count.
    holders: HashMap<u64, (usize, u32)>,
    threads: Vec<Thread>,
}

impl Machine {
    pub(crate) fn new(detector: FlowDetector, threads: u32, seed: u64) -> Self {
        let mut machine = Machine {
            detector,
            memory: HashMap::new(),
            random: Random::new(seed),
            holders: HashMap::new(),
            threads: Vec::new(),
        };
        for n in 0..threads {
            let stack = 0x7000_0000 + u64::from(n) * 0x1_0000;
            machine
                .detector
                .begin_thread(ThreadId(n), stack..stack + 0x1_0000);
            let mut registers = [0; 16];
            registers[usize::from(STACK)] = stack + 0x8000;
            machine.threads.push(Thread {
                id: ThreadId(n),
                registers,
                mode: Mode::Native,
                context: Synopsis::EMPTY,
                program: None,
                result: 0,
                consumed: None,
            });
        }
        machine
    }

    /// A thread starts a program with its arguments, in a context.
    pub(crate) fn start(
        &mut self,
        thread: usize,
        program: &Program,
        arguments: [u64; 2],
        context: Synopsis,
    ) {
        let thread = &mut self.threads[thread];
        assert!(thread.program.is_none(), "busy");
        thread.registers[usize::from(ARGUMENT)] = arguments[0];
        thread.registers[usize::from(OTHER_ARGUMENT)] = arguments[1];
        thread.program = Some((program.clone(), 0));
        thread.context = context;
        thread.consumed = None;
    }

    /// Runs a program to its end while all other threads pause.
    pub(crate) fn run(
        &mut self,
        thread: usize,
        program: &Program,
        arguments: [u64; 2],
        context: Synopsis,
    ) -> Done {
        self.start(thread, program, arguments, context);
        for _ in 0..10_000 {
            if let Some(done) = self.step(thread) {
                return done;
            }
        }
        panic!("the program does not end: {program:?}");
    }

    /// A random thread executes one instruction. Returns the thread and its result if that ended the program.
    pub(crate) fn step_any(&mut self) -> Option<(usize, Done)> {
        let busy: Vec<usize> = (0..self.threads.len())
            .filter(|&it| self.threads[it].program.is_some())
            .collect();
        let thread = *busy.get(self.random.index(busy.len()))?;
        Some((thread, self.step(thread)?))
    }

    pub(crate) fn is_idle(&self, thread: usize) -> bool {
        self.threads[thread].program.is_none()
    }

    fn step(&mut self, at: usize) -> Option<Done> {
        let (program, pc) = self.threads[at].program.clone().expect("a busy thread");
        let code = CodeAddress(program.code + pc as u64);
        let mut next = pc + 1;
        let thread = self.threads[at].id;
        match program.ops[pc] {
            Op::Lock(lock) => {
                let (holder, times) = self.holders.entry(lock).or_insert((at, 0));
                if *holder != at {
                    return None;
                }
                *times += 1;
                self.threads[at].mode = self.detector.enter(thread, LockId(lock), code);
            }
            Op::Unlock(lock) => {
                let (holder, times) = self.holders.get_mut(&lock).expect("a lock that is held");
                assert_eq!(*holder, at);
                *times -= 1;
                if *times == 0 {
                    self.holders.remove(&lock);
                }
                let context = self.threads[at].context;
                let reaction = self.detector.leave(thread, LockId(lock), &[], |_| context);
                self.threads[at].react(reaction);
            }
            Op::Load(to, from) => {
                let from = self.address(at, from);
                let value = self.memory.get(&from).copied().unwrap_or(0);
                self.set(at, to, value);
                self.tell(
                    at,
                    code,
                    Effect::Move {
                        from: word(from),
                        to: register(to),
                        value,
                    },
                );
            }
            Op::Store(to, from) => {
                let (to, value) = (self.address(at, to), self.get(at, from));
                self.memory.insert(to, value);
                self.tell(
                    at,
                    code,
                    Effect::Move {
                        from: register(from),
                        to: word(to),
                        value,
                    },
                );
            }
            Op::StoreConstant(to, value) => {
                let to = self.address(at, to);
                self.memory.insert(to, value);
                self.tell(
                    at,
                    code,
                    Effect::Overwrite {
                        to: word(to),
                        value,
                    },
                );
            }
            Op::Constant(to, value) => {
                self.set(at, to, value);
                self.tell(
                    at,
                    code,
                    Effect::Overwrite {
                        to: register(to),
                        value,
                    },
                );
            }
            Op::Copy(to, from) => {
                let value = self.get(at, from);
                self.set(at, to, value);
                self.tell(
                    at,
                    code,
                    Effect::Move {
                        from: register(from),
                        to: register(to),
                        value,
                    },
                );
            }
            Op::Compute(to, factor, summand) => {
                let value = (self.get(at, to) * factor).wrapping_add_signed(summand);
                self.set(at, to, value);
                self.tell(
                    at,
                    code,
                    Effect::Overwrite {
                        to: register(to),
                        value,
                    },
                );
            }
            Op::AddToMemory(to, summand) => {
                let to = self.address(at, to);
                let value = self.memory.get(&to).copied().unwrap_or(0);
                let value = value.wrapping_add_signed(summand);
                self.memory.insert(to, value);
                self.tell(
                    at,
                    code,
                    Effect::Overwrite {
                        to: word(to),
                        value,
                    },
                );
            }
            Op::Use(of) => {
                let value = self.get(at, of);
                self.tell(
                    at,
                    code,
                    Effect::Use {
                        of: register(of),
                        value,
                    },
                );
            }
            Op::Call(result) => {
                self.set(at, 0, result);
                self.tell(at, code, Effect::NativeCall);
            }
            Op::JumpIfZero(which, to) if self.get(at, which) == 0 => next = to,
            Op::JumpIfZero(..) => {}
            Op::Jump(to) => next = to,
            Op::Return(result) => {
                self.threads[at].result = self.get(at, result);
                self.threads[at].program = None;
                let Thread {
                    result, consumed, ..
                } = self.threads[at];
                return Some(Done { result, consumed });
            }
        }
        self.threads[at].program = Some((program, next));
        None
    }

    fn tell(&mut self, at: usize, code: CodeAddress, effect: Effect) {
        let thread = &mut self.threads[at];
        if thread.mode == Mode::Native {
            return;
        }
        let reaction = self
            .detector
            .effect(thread.id, code, effect, |_| thread.context);
        thread.react(reaction);
    }

    fn address(&self, at: usize, place: At) -> u64 {
        self.get(at, place.0).wrapping_add_signed(place.1)
    }

    fn get(&self, at: usize, register: R) -> u64 {
        self.threads[at].registers[usize::from(register)]
    }

    fn set(&mut self, at: usize, register: R, value: u64) {
        self.threads[at].registers[usize::from(register)] = value;
    }
}

fn register(number: R) -> Place {
    Place::Register(Register::general(number).expect("a general register"))
}

fn word(address: u64) -> Place {
    Place::Memory(Span::new(address, 8).expect("eight bytes"))
}
