//! Operands and their addresses.

use iced_x86::{Instruction, OpKind, Register, UsedMemory};

use crate::step::Address;
use crate::translation::emit::Gpr;

/// Any of an instruction's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Register(Register),
    /// A memory operand, with its address if that can be described.
    Memory(Option<Address<Gpr>>),
    Immediate(u64),
    Other,
}

/// An operand, by its number.
pub(crate) fn operand(instruction: &Instruction, number: u32) -> Operand {
    if number >= instruction.op_count() {
        return Operand::Other;
    }
    match instruction.op_kind(number) {
        OpKind::Register => Operand::Register(instruction.op_register(number)),
        OpKind::Memory => Operand::Memory(address(instruction)),
        _ => match instruction.try_immediate(number) {
            Ok(it) => Operand::Immediate(it),
            Err(_) => Operand::Other,
        },
    }
}

/// The address of an instruction's memory operand, with its size, at most eight bytes.
pub(crate) fn address(instruction: &Instruction) -> Option<Address<Gpr>> {
    parts(
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.memory_segment(),
        Parts {
            scale: instruction.memory_index_scale() as u8,
            displacement: instruction.memory_displacement64(),
            bytes: instruction.memory_size().size(),
        },
    )
}

/// The address of memory that an instruction uses, explicitly or implicitly.
pub(crate) fn used_address(memory: &UsedMemory) -> Option<Address<Gpr>> {
    parts(
        memory.base(),
        memory.index(),
        memory.segment(),
        Parts {
            scale: memory.scale() as u8,
            displacement: memory.displacement(),
            bytes: memory.memory_size().size(),
        },
    )
}

struct Parts {
    scale: u8,
    displacement: u64,
    bytes: usize,
}

fn parts(base: Register, index: Register, segment: Register, parts: Parts) -> Option<Address<Gpr>> {
    // The displacement is already the whole address.
    let base = if base.is_ip() { Register::None } else { base };
    Some(Address {
        base: number(base).ok()?,
        index: number(index).ok()?,
        scale: parts.scale,
        displacement: parts.displacement,
        of_thread: match segment {
            Register::FS => true,
            Register::GS => return None,
            _ => false,
        },
        bytes: parts.bytes.clamp(1, 8) as u8,
    })
}

/// A register that no general register of 64 bits stands for.
struct NotGeneral;

/// The register's number, or `None` for no register.
fn number(register: Register) -> Result<Option<Gpr>, NotGeneral> {
    match register {
        Register::None => Ok(None),
        it if it.is_gpr64() => Ok(Some(it.number() as Gpr)),
        _ => Err(NotGeneral),
    }
}
