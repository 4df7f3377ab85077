//! Translates the program's instructions into units of code.
//!
//! A unit consists of the original instructions, with stores in between that record the values needed for effects. Jumps
//! are emulated. A call pushes the program's own return address, so the stack always is what unwinders, exceptions and
//! `longjmp` expect. No register is reserved, flags are never touched, and the red zone stays intact.

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

/// What the translator needs to know about the program.
pub(crate) trait Program {
    /// The bytes of code at an address, at least one, or `None` if no code there can be translated.
    fn code(&self, ip: u64) -> Option<&'static [u8]>;
    /// Whether a function that is not translated starts at this address.
    fn is_special(&self, ip: u64) -> bool;
    /// Whether the function at this address is called natively.
    fn is_native(&self, ip: u64) -> bool;
    /// Whether the code at this address is not reported. This is the loader's, which resolves functions when they are first
    /// called.
    fn is_silent(&self, ip: u64) -> bool;
}

/// An exit of the unit under construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    /// Steps before it.
    pub(crate) steps: usize,
    pub(crate) instructions: u32,
    pub(crate) to: To,
    /// A jump to it.
    hole: Option<Hole>,
    /// Whether `rcx` is borrowed there.
    restores_rcx: bool,
}

/// The unit under construction.
pub(crate) struct Building {
    notes: Notes,
    pub(crate) steps: List<Placed, MOST_STEPS>,
    pub(crate) exits: List<Draft, MOST_EXITS>,
    pub(crate) starts: List<(u32, u64), { LONGEST as usize }>,
    constants: List<(Hole, u64), MOST_EXITS>,
    instructions: u32,
    pub(crate) is_system_call: bool,
}

/// Why a unit ends.
enum End {
    /// It has its last exit.
    Done,
    /// The next instruction belongs to another unit.
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

/// Translates instructions into units.
pub(crate) struct Translator {
    planner: Planner,
    pub(crate) building: Building,
}

/// The parameters of a unit.
pub(crate) struct Order<'a, P> {
    pub(crate) program: &'a P,
    /// Where it begins.
    pub(crate) ip: u64,
    /// Where its branches are expected to lead. The unit ends after these.
    pub(crate) path: &'a [u64],
    /// The number of its first exit.
    pub(crate) first_exit: u32,
    /// Where exits go.
    pub(crate) gates: Gates,
}

impl Translator {
    pub(crate) fn new() -> Self {
        // The decoder builds its tables on first use.
        let _ = Decoder::new(64, &[0x90], DecoderOptions::NONE).decode();
        Translator {
            planner: Planner::new(),
            building: Building::new(),
        }
    }

    /// Translates the unit at an address into `emitter`, and leaves the rest in [`Self::building`]. Returns `false` if the
    /// first instruction only works in its own place, or if there is no room.
    pub(crate) fn unit<P: Program>(&mut self, order: &Order<P>, emitter: &mut Emitter) -> bool {
        self.building.reset();
        let end = self.body(order, emitter);
        if let End::Split(next) = end {
            if self.building.instructions == 0 {
                return false;
            }
            // The unit ends without a jump: this exit follows directly.
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

    /// Translates one instruction. Returns where the unit continues.
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

    /// Emits the exits, starting with the one that no jump leads to.
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
    /// Emulates a branch, a call or a return. Returns where the unit continues.
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
                // The same instruction, over the jump for the other case.
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
            // Conditions come in pairs of opposites.
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

    /// Goes to the thread's target, within the unit if that is the expected one. The comparison takes two borrowed
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

/// The two destinations of a conditional jump.
struct Sides {
    target: u64,
    next: u64,
}

/// Stores the operand of an indirect branch in the thread's target.
fn find_target(instruction: &Instruction, emitter: &mut Emitter) {
    match operand(instruction, 0) {
        Operand::Register(it) => emitter.store(tls::TARGET, it.number() as Gpr),
        Operand::Memory(Some(address)) => {
            emitter.store(tls::spill(0), RAX);
            emitter.load_memory(RAX, &address);
            emitter.store(tls::TARGET, RAX);
            emitter.load(RAX, tls::spill(0));
        }
        // The planner stops at all others.
        _ => {}
    }
}

/// By how much an instruction moves the stack pointer, if that is constant.
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
