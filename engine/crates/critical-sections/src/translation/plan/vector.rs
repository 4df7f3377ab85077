//! Copies through vector registers, in units of eight bytes. Compilers move two words of a node with `punpcklqdq` and one
//! store.

use iced_x86::{EncodingKind, Instruction, Mnemonic, Register};

use super::contents::{Plan, after, before, chunk, general, low_part, named};
use super::operands::{Operand, operand};
use crate::step::{Address, Held, Spot, Value};
use crate::translation::emit::Gpr;

/// The source of eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Chunk(u8, u8),
    /// At this offset in the memory operand.
    Memory(u64),
    General(Gpr),
    Zero,
}

/// Adds the steps of an instruction that copies through vector registers. Returns `false` for any other.
pub(crate) fn plan(instruction: &Instruction, plan: &mut Plan) -> bool {
    use Mnemonic as M;
    // Under a mask, only some bytes are copied.
    if instruction.op_mask() != Register::None || instruction.is_broadcast() {
        return false;
    }
    match instruction.mnemonic() {
        M::Movaps
        | M::Movups
        | M::Movapd
        | M::Movupd
        | M::Movdqa
        | M::Movdqu
        | M::Lddqu
        | M::Movntdq
        | M::Movntps
        | M::Movntpd
        | M::Movntdqa
        | M::Vmovaps
        | M::Vmovups
        | M::Vmovapd
        | M::Vmovupd
        | M::Vmovdqa
        | M::Vmovdqu
        | M::Vlddqu
        | M::Vmovntdq
        | M::Vmovntps
        | M::Vmovntpd
        | M::Vmovntdqa
        | M::Vmovdqa32
        | M::Vmovdqa64
        | M::Vmovdqu8
        | M::Vmovdqu16
        | M::Vmovdqu32
        | M::Vmovdqu64 => whole(instruction, plan),
        M::Movq | M::Vmovq | M::Movd | M::Vmovd => word(instruction, plan),
        M::Movsd | M::Movss | M::Vmovsd | M::Vmovss => scalar(instruction, plan),
        M::Movlps | M::Movlpd | M::Vmovlps | M::Vmovlpd => half(instruction, plan, 0),
        M::Movhps | M::Movhpd | M::Vmovhps | M::Vmovhpd => half(instruction, plan, 1),
        _ => shuffled(instruction, plan),
    }
}

fn vector(operand: Operand) -> Option<u8> {
    match operand {
        Operand::Register(it) if it.is_vector_register() => Some(it.number() as u8),
        _ => None,
    }
}

fn is_legacy(instruction: &Instruction) -> bool {
    instruction.encoding() == EncodingKind::Legacy
}

/// Writes chunks of a register, starting at the lowest. Instructions with a VEX prefix clear the rest.
fn assign(instruction: &Instruction, plan: &mut Plan, to: u8, sources: &[Source]) {
    let memory = match instruction
        .op_kinds()
        .any(|it| it == iced_x86::OpKind::Memory)
    {
        true => super::operands::address(instruction),
        false => None,
    };
    let own = |it: u8| Source::Chunk(to, it);
    let changes_places = sources.len() == 2 && sources[0] == own(1) && sources[1] == own(0);
    if changes_places {
        let value = before(Held::Chunk(to, 0));
        plan.moves(chunk(to, 0), Spot::Aside, value);
        plan.moves(chunk(to, 1), chunk(to, 0), Value::Unknown);
        plan.moves(Spot::Aside, chunk(to, 1), value);
    } else if sources.len() == 2 && sources[1] == own(0) {
        one(plan, to, 1, sources[1], memory);
        one(plan, to, 0, sources[0], memory);
    } else {
        for (which, source) in (0..).zip(sources) {
            one(plan, to, which, *source, memory);
        }
    }
    if !is_legacy(instruction) {
        for which in sources.len() as u8..8 {
            plan.overwrites(chunk(to, which), Value::Constant(0));
        }
    }
}

fn one(plan: &mut Plan, to: u8, which: u8, source: Source, memory: Option<Address<Gpr>>) {
    let target = chunk(to, which);
    match (source, memory) {
        (Source::Chunk(from, part), _) if (from, part) == (to, which) => {}
        (Source::Chunk(from, part), _) => {
            plan.moves(chunk(from, part), target, Value::Unknown);
        }
        (Source::General(from), _) => plan.moves(general(from), target, Value::Unknown),
        (Source::Memory(offset), Some(memory)) => {
            let from = Spot::Memory(named(&memory.part(offset, memory.bytes)));
            plan.moves(from, target, after(Held::Chunk(to, which)));
        }
        (Source::Zero | Source::Memory(_), _) => plan.overwrites(target, Value::Constant(0)),
    }
}

fn follow(plan: &mut Plan, memory: &Address<Gpr>) {
    plan.follows(&named(memory));
}

/// Stores one chunk.
fn store(plan: &mut Plan, from: (u8, u8), to: Address<Gpr>) {
    let value = before(Held::Chunk(from.0, from.1));
    plan.moves(chunk(from.0, from.1), Spot::Memory(named(&to)), value);
}

fn whole(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (to, from) = (operand(instruction, 0), operand(instruction, 1));
    match (vector(to), vector(from), to, from) {
        (Some(to), Some(from), Operand::Register(register), _) => {
            let chunks = register.size() as u8 / 8;
            let all: [Source; 8] = std::array::from_fn(|it| Source::Chunk(from, it as u8));
            assign(instruction, plan, to, &all[..usize::from(chunks)]);
        }
        (Some(to), None, Operand::Register(register), Operand::Memory(Some(memory))) => {
            follow(plan, &memory);
            let chunks = register.size() / 8;
            let all: [Source; 8] = std::array::from_fn(|it| Source::Memory(8 * it as u64));
            assign(instruction, plan, to, &all[..chunks]);
        }
        (None, Some(from), Operand::Memory(Some(memory)), Operand::Register(register)) => {
            follow(plan, &memory);
            for which in 0..register.size() as u8 / 8 {
                store(plan, (from, which), memory.part(8 * u64::from(which), 8));
            }
        }
        _ => return false,
    }
    true
}

/// `movq` and `movd`.
fn word(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (to, from) = (operand(instruction, 0), operand(instruction, 1));
    if let Some(to) = vector(to) {
        let source = match from {
            Operand::Register(it) if it.is_vector_register() => Source::Chunk(it.number() as u8, 0),
            Operand::Register(it) => match low_part(it) {
                Some(it) => Source::General(it),
                None => return false,
            },
            Operand::Memory(Some(memory)) => {
                follow(plan, &memory);
                Source::Memory(0)
            }
            _ => return false,
        };
        assign(instruction, plan, to, &[source, Source::Zero]);
        return true;
    }
    let Some(from) = vector(from) else {
        return false;
    };
    stored(plan, (from, 0), to)
}

/// Copies one chunk to memory or a general register.
fn stored(plan: &mut Plan, from: (u8, u8), to: Operand) -> bool {
    match to {
        Operand::Memory(Some(memory)) => {
            follow(plan, &memory);
            store(plan, from, memory);
        }
        Operand::Register(it) => {
            let Some(to) = low_part(it) else {
                return false;
            };
            plan.moves(chunk(from.0, from.1), general(to), Value::Unknown);
        }
        _ => return false,
    }
    true
}

/// `movsd` and `movss`: a load clears the rest, a register move preserves it.
fn scalar(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (to, from) = (operand(instruction, 0), operand(instruction, 1));
    match (vector(to), from) {
        (Some(to), Operand::Memory(Some(memory))) => {
            follow(plan, &memory);
            assign(instruction, plan, to, &[Source::Memory(0), Source::Zero]);
        }
        (Some(to), Operand::Register(first)) => {
            let (upper, lower) = match vector(operand(instruction, 2)) {
                Some(third) => (first.number() as u8, third),
                None => (to, first.number() as u8),
            };
            let sources = [Source::Chunk(lower, 0), Source::Chunk(upper, 1)];
            assign(instruction, plan, to, &sources);
        }
        (None, Operand::Register(first)) if first.is_vector_register() => {
            return stored(plan, (first.number() as u8, 0), to);
        }
        _ => return false,
    }
    true
}

/// `movlps` and `movhps`: one half to or from memory.
fn half(instruction: &Instruction, plan: &mut Plan, which: u8) -> bool {
    let to = operand(instruction, 0);
    let Some(register) = vector(to) else {
        let Some(from) = vector(operand(instruction, 1)) else {
            return false;
        };
        return stored(plan, (from, which), to);
    };
    let last = instruction.op_count() - 1;
    let Operand::Memory(Some(memory)) = operand(instruction, last) else {
        return false;
    };
    follow(plan, &memory);
    let other = match last {
        2 => vector(operand(instruction, 1)).unwrap_or(register),
        _ => register,
    };
    let mut sources = [Source::Chunk(other, 0), Source::Chunk(other, 1)];
    sources[usize::from(which)] = Source::Memory(0);
    assign(instruction, plan, register, &sources);
    true
}

/// Copies that combine halves of registers.
fn shuffled(instruction: &Instruction, plan: &mut Plan) -> bool {
    use Mnemonic as M;
    let Operand::Register(register) = operand(instruction, 0) else {
        return false;
    };
    if !register.is_xmm() {
        return extracted(instruction, plan);
    }
    let to = register.number() as u8;
    // Of two sources, the first is the target in legacy instructions.
    let sources = instruction
        .op_kinds()
        .filter(|it| matches!(it, iced_x86::OpKind::Register | iced_x86::OpKind::Memory));
    let last = sources.count() as u32 - 1;
    let first = if last == 2 { 1 } else { 0 };
    let Some(a) = vector(operand(instruction, first)) else {
        return false;
    };
    let b = |which: u8| match operand(instruction, last) {
        Operand::Register(it) if it.is_vector_register() => {
            Some(Source::Chunk(it.number() as u8, which))
        }
        Operand::Register(it) => low_part(it).map(Source::General),
        Operand::Memory(Some(_)) => Some(Source::Memory(8 * u64::from(which))),
        _ => None,
    };
    let a = |which: u8| Some(Source::Chunk(a, which));
    let immediate = match operand(instruction, instruction.op_count() - 1) {
        Operand::Immediate(it) => it as u8,
        _ => 0,
    };
    let both = match instruction.mnemonic() {
        M::Punpcklqdq | M::Unpcklpd | M::Movlhps | M::Vpunpcklqdq | M::Vunpcklpd | M::Vmovlhps => {
            (a(0), b(0))
        }
        M::Punpckhqdq | M::Unpckhpd | M::Vpunpckhqdq | M::Vunpckhpd => (a(1), b(1)),
        M::Movhlps | M::Vmovhlps => (b(1), a(1)),
        M::Shufpd | M::Vshufpd => (a(immediate & 1), b(immediate >> 1 & 1)),
        M::Movddup | M::Vmovddup | M::Vpbroadcastq => (b(0), b(0)),
        M::Pinsrq | M::Vpinsrq if immediate & 1 == 0 => (b(0), a(1)),
        M::Pinsrq | M::Vpinsrq => (a(0), b(0)),
        M::Palignr | M::Vpalignr if immediate == 8 => (b(1), a(0)),
        M::Pshufd | M::Vpshufd => match immediate {
            0x4e => (b(1), b(0)),
            0x44 => (b(0), b(0)),
            0xee => (b(1), b(1)),
            0xe4 => (b(0), b(1)),
            _ => return false,
        },
        _ => return false,
    };
    let (Some(low), Some(high)) = both else {
        return false;
    };
    if let Operand::Memory(Some(memory)) = operand(instruction, last) {
        follow(plan, &memory);
    }
    assign(instruction, plan, to, &[low, high]);
    true
}

/// `pextrq`.
fn extracted(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (Mnemonic::Pextrq | Mnemonic::Vpextrq, Some(from), Operand::Immediate(which)) = (
        instruction.mnemonic(),
        vector(operand(instruction, 1)),
        operand(instruction, 2),
    ) else {
        return false;
    };
    stored(plan, (from, which as u8 & 1), operand(instruction, 0))
}
