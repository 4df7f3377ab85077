//! From the program's instructions to units of translated code.
//!
//! A unit is the instructions as they are, with stores in between that note the values which effects will need. What jumps
//! is emulated: a call pushes the program's own return address, so that the stack always is what unwinders, exceptions
//! and `longjmp` expect. No register is ever reserved, and flags are never touched; the red zone stays as it is.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};

use super::copy::{Original, copy};
use super::emit::{Emitter, Gpr, Hole, RAX, RCX, RDX, RSP};
use super::gate::Gates;
use super::notes::Notes;
use super::plan::{Flow, Operand, Plan, Planner, operand};
use super::unit::{Placed, To};
use crate::list::List;
use crate::memory::tls;

/// The longest unit, in instructions.
const LONGEST: u32 = 160;
/// The most steps of a unit.
pub(crate) const MOST_STEPS: usize = 640;
const MOST_EXITS: usize = 40;

/// What the translator asks of the program.
pub(crate) trait Program {
    /// The bytes of code from an address on, at least one; `None` where no code can be translated.
    fn code(&self, ip: u64) -> Option<&'static [u8]>;
    /// Whether an address is that of a function that is not translated.
    fn is_special(&self, ip: u64) -> bool;
    /// Whether it is called natively.
    fn is_native(&self, ip: u64) -> bool;
    /// Whether nothing is told of the code at an address: the loader's, which looks for a function when it is first called.
    fn is_silent(&self, ip: u64) -> bool;
}

/// An exit of the unit that is being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    /// Steps before it.
    pub(crate) steps: usize,
    pub(crate) instructions: u32,
    pub(crate) to: To,
    /// A jump to it.
    hole: Option<Hole>,
    /// `rcx` is borrowed there.
    restores_rcx: bool,
}

/// The unit that is being made.
pub(crate) struct Building {
    notes: Notes,
    pub(crate) steps: List<Placed, MOST_STEPS>,
    pub(crate) exits: List<Draft, MOST_EXITS>,
    pub(crate) starts: List<(u32, u64), { LONGEST as usize }>,
    constants: List<(Hole, u64), MOST_EXITS>,
    instructions: u32,
    pub(crate) is_system_call: bool,
}

/// Why the unit ends.
enum End {
    /// Its last exit is there.
    Done,
    /// The next instruction is another unit's.
    Split(u64),
}

impl Building {
    pub(crate) fn new() -> Self {
        Building {
            notes: Notes::new(),
            steps: List::new(),
            exits: List::new(),
            starts: List::new(),
            constants: List::new(),
            instructions: 0,
            is_system_call: false,
        }
    }

    fn reset(&mut self) {
        self.notes = Notes::new();
        self.steps.clear();
        self.exits.clear();
        self.starts.clear();
        self.constants.clear();
        self.instructions = 0;
        self.is_system_call = false;
    }

    fn has_room(&self) -> bool {
        self.notes.has_room()
            && self.steps.has_room(48)
            && self.exits.has_room(3)
            && self.constants.has_room(1)
            && self.instructions < LONGEST
    }

    fn exit(&mut self, to: To, hole: Option<Hole>) {
        self.exits.push(Draft {
            steps: self.steps.as_slice().len(),
            instructions: self.instructions,
            to,
            hole,
            restores_rcx: false,
        });
    }
}

/// Translates instructions.
pub(crate) struct Translator {
    planner: Planner,
    pub(crate) building: Building,
}

/// What a unit is made of.
pub(crate) struct Order<'a, P> {
    pub(crate) program: &'a P,
    /// Where it begins.
    pub(crate) ip: u64,
    /// Where its branches are expected to lead; beyond, the unit ends.
    pub(crate) path: &'a [u64],
    /// The number of its first exit.
    pub(crate) first_exit: u32,
    /// Where exits go.
    pub(crate) gates: Gates,
}

impl Translator {
    pub(crate) fn new() -> Self {
        // The decoder makes its tables when it is first used.
        let _ = Decoder::new(64, &[0x90], DecoderOptions::NONE).decode();
        Translator {
            planner: Planner::new(),
            building: Building::new(),
        }
    }

    /// Translates the unit at an address into `emitter`; what belongs to it is then in [`Self::building`]. `false` when the
    /// first instruction runs in its own place alone, or when there is no room.
    pub(crate) fn unit<P: Program>(&mut self, order: &Order<P>, emitter: &mut Emitter) -> bool {
        self.building.reset();
        let end = self.body(order, emitter);
        if let End::Split(next) = end {
            if self.building.instructions == 0 {
                return false;
            }
            // What follows is the way on: no jump leads there.
            let to = match order.program.is_native(next) {
                true => To::Call(next),
                false => To::Next(next),
            };
            self.building.exit(to, None);
        }
        self.exits(order, emitter);
        for (hole, value) in self.building.constants.as_slice() {
            emitter.word_here(*hole, *value);
        }
        !emitter.overflowed()
            && !self.building.steps.overflowed()
            && !self.building.exits.overflowed()
    }

    fn body<P: Program>(&mut self, order: &Order<P>, emitter: &mut Emitter) -> End {
        let mut ip = order.ip;
        let mut path = order.path.iter().copied();
        loop {
            let first = self.building.instructions == 0;
            if !self.building.has_room() || (!first && order.program.is_special(ip)) {
                return End::Split(ip);
            }
            let Some(bytes) = order.program.code(ip) else {
                return End::Split(ip);
            };
            let Ok(mut decoder) = Decoder::try_with_ip(64, bytes, ip, DecoderOptions::NONE) else {
                return End::Split(ip);
            };
            let instruction = decoder.decode();
            if instruction.is_invalid() || instruction.len() > bytes.len() {
                return End::Split(ip);
            }
            let mut plan = self.planner.plan(&instruction);
            if order.program.is_silent(ip) {
                plan.steps.clear();
            }
            let original = Original {
                instruction: &instruction,
                bytes: &bytes[..instruction.len()],
                offsets: decoder.get_constant_offsets(&instruction),
                used: plan.used,
            };
            let next = match plan.flow {
                Flow::Stop => return End::Split(ip),
                Flow::System if !first => return End::Split(ip),
                _ => self.instruction(&original, &plan, &mut path, emitter),
            };
            match next {
                Ok(next) => ip = next,
                Err(end) => return end,
            }
        }
    }

    /// One instruction; where the unit goes on.
    fn instruction(
        &mut self,
        original: &Original,
        plan: &Plan,
        path: &mut impl Iterator<Item = u64>,
        emitter: &mut Emitter,
    ) -> Result<u64, End> {
        let instruction = original.instruction;
        let building = &mut self.building;
        let start = emitter.length() as u32;
        building.notes.before(plan, emitter);
        let is_copied = matches!(plan.flow, Flow::Next | Flow::System);
        if is_copied && !copy(original, emitter) {
            return Err(End::Split(instruction.ip()));
        }
        if plan.flow == Flow::System {
            // The kernel leaves the address of the next instruction there.
            emitter.constant(RCX, instruction.next_ip());
            building.is_system_call = true;
        }
        building.starts.push((start, instruction.ip()));
        building.instructions += 1;
        building.notes.after(plan, emitter);
        for step in plan.steps.as_slice() {
            if let Some(step) = building.notes.resolved(step) {
                let at = instruction.ip();
                building.steps.push(Placed { at, step });
            }
        }
        if plan.written & 1 << RSP != 0 {
            building.notes.stack_moved(stack_moves(instruction));
        }
        match plan.flow {
            Flow::Next if !plan.late => Ok(instruction.next_ip()),
            Flow::Next | Flow::System => Err(End::Split(instruction.next_ip())),
            _ => building.branch(original, plan.flow, path, emitter),
        }
    }

    /// The ways out: first the one that nothing jumps to.
    fn exits<P: Program>(&self, order: &Order<P>, emitter: &mut Emitter) {
        let numbered = || (order.first_exit..).zip(self.building.exits.as_slice());
        let straight = numbered().filter(|it| it.1.hole.is_none());
        let jumped_to = numbered().filter(|it| it.1.hole.is_some());
        for (number, exit) in straight.chain(jumped_to) {
            if let Some(hole) = exit.hole {
                emitter.fill_here(hole);
            }
            if exit.restores_rcx {
                emitter.load(RCX, tls::spill(0));
            }
            emitter.store_constant(tls::EXIT, number as i32);
            emitter.jump_near(match exit.to {
                To::Call(_) => order.gates.call,
                _ => order.gates.exit,
            });
        }
    }
}

impl Building {
    /// Emulates a branch, a call or a return; where the unit goes on.
    fn branch(
        &mut self,
        original: &Original,
        flow: Flow,
        path: &mut impl Iterator<Item = u64>,
        emitter: &mut Emitter,
    ) -> Result<u64, End> {
        let next = original.instruction.next_ip();
        match flow {
            Flow::Jump(target) => Ok(target),
            Flow::JumpIf(condition, target) => {
                let sides = Sides { target, next };
                self.conditional(condition, sides, path.next(), emitter)
            }
            Flow::JumpIfCount(target) => {
                // The same instruction, over the jump that is taken otherwise.
                emitter.bytes(&original.bytes[..original.bytes.len() - 1]);
                emitter.bytes(&[LENGTH_OF_JUMP]);
                let otherwise = emitter.jump();
                self.exit(To::Branch(next), Some(otherwise));
                self.exit(To::Branch(target), None);
                Err(End::Done)
            }
            Flow::Call(target) => {
                self.push(next, emitter);
                Ok(target)
            }
            Flow::JumpIndirect => {
                find_target(original.instruction, emitter);
                self.indirect(path.next(), emitter)
            }
            Flow::CallIndirect => {
                find_target(original.instruction, emitter);
                self.push(next, emitter);
                self.indirect(path.next(), emitter)
            }
            Flow::Return(arguments) => {
                emitter.pop_to(tls::TARGET);
                if arguments > 0 {
                    emitter.move_stack(i32::from(arguments));
                }
                self.indirect(path.next(), emitter)
            }
            Flow::Next | Flow::System | Flow::Stop => Err(End::Split(next)),
        }
    }

    fn push(&mut self, address: u64, emitter: &mut Emitter) {
        let hole = emitter.push_constant();
        self.constants.push((hole, address));
    }

    fn conditional(
        &mut self,
        condition: u8,
        Sides { target, next }: Sides,
        expected: Option<u64>,
        emitter: &mut Emitter,
    ) -> Result<u64, End> {
        if expected == Some(target) {
            // Conditions come in pairs, each the opposite of the other.
            let otherwise = emitter.jump_if(condition ^ 1);
            self.exit(To::Branch(next), Some(otherwise));
            return Ok(target);
        }
        let taken = emitter.jump_if(condition);
        self.exit(To::Branch(target), Some(taken));
        if expected == Some(next) {
            return Ok(next);
        }
        self.exit(To::Branch(next), None);
        Err(End::Done)
    }

    /// Goes where the thread's target says: on in the unit when that is what is expected. Comparing takes two borrowed
    /// registers and no flags.
    fn indirect(&mut self, expected: Option<u64>, emitter: &mut Emitter) -> Result<u64, End> {
        let Some(expected) = expected else {
            self.exit(To::Indirect, None);
            return Err(End::Done);
        };
        emitter.store(tls::spill(0), RCX);
        emitter.store(tls::spill(1), RDX);
        emitter.constant(RCX, expected.wrapping_neg());
        emitter.load(RDX, tls::TARGET);
        emitter.add(RCX, RDX);
        emitter.load(RDX, tls::spill(1));
        emitter.bytes(&[JUMP_IF_RCX_IS_0, LENGTH_OF_JUMP]);
        let otherwise = emitter.jump();
        emitter.load(RCX, tls::spill(0));
        self.exits.push(Draft {
            steps: self.steps.as_slice().len(),
            instructions: self.instructions,
            to: To::Indirect,
            hole: Some(otherwise),
            restores_rcx: true,
        });
        Ok(expected)
    }
}

const JUMP_IF_RCX_IS_0: u8 = 0xe3;
const LENGTH_OF_JUMP: u8 = 5;

/// Where a conditional jump leads.
struct Sides {
    target: u64,
    next: u64,
}

/// Leaves the operand of an indirect branch in the thread's target.
fn find_target(instruction: &Instruction, emitter: &mut Emitter) {
    match operand(instruction, 0) {
        Operand::Register(it) => emitter.store(tls::TARGET, it.number() as Gpr),
        Operand::Memory(Some(address)) => {
            emitter.store(tls::spill(0), RAX);
            emitter.load_memory(RAX, &address);
            emitter.store(tls::TARGET, RAX);
            emitter.load(RAX, tls::spill(0));
        }
        // The planner stops at other ones.
        _ => {}
    }
}

/// By how much an instruction moves the stack pointer, when that is always the same.
fn stack_moves(instruction: &Instruction) -> Option<i64> {
    let by = instruction.stack_pointer_increment();
    if by != 0 {
        return Some(i64::from(by));
    }
    match (instruction.mnemonic(), operand(instruction, 1)) {
        (Mnemonic::Add, Operand::Immediate(by)) => Some(by as i64),
        (Mnemonic::Sub, Operand::Immediate(by)) => Some(-(by as i64)),
        (Mnemonic::Lea, Operand::Memory(Some(it))) if (it.base, it.index) == (Some(RSP), None) => {
            Some(it.displacement as i64)
        }
        _ => None,
    }
}
