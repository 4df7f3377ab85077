//! Copies one instruction to another place. The bytes stay the same, except for addresses relative to the instruction.
//!
//! The block encoder of `iced-x86` does this too, but allocates, which is not allowed while a thread is in a critical
//! section.

use iced_x86::{ConstantOffsets, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::emit::{Emitter, Gpr};
use crate::memory::tls;

/// An instruction of the program.
pub(crate) struct Original<'a> {
    pub(crate) instruction: &'a Instruction,
    pub(crate) bytes: &'a [u8],
    pub(crate) offsets: ConstantOffsets,
    /// The general registers that it uses.
    pub(crate) used: u16,
}

/// Emits an instruction. Returns `false` if it only works in its own place.
pub(crate) fn copy(original: &Original, emitter: &mut Emitter) -> bool {
    let instruction = original.instruction;
    if !instruction.is_ip_rel_memory_operand() {
        emitter.bytes(original.bytes);
        return true;
    }
    if instruction.memory_base() != Register::RIP {
        return false;
    }
    let address = instruction.ip_rel_memory_address();
    if instruction.mnemonic() == Mnemonic::Lea {
        return lea(instruction, address, emitter);
    }
    near(original, address, emitter) || far(original, address, emitter)
}

fn lea(instruction: &Instruction, address: u64, emitter: &mut Emitter) -> bool {
    let to = instruction.op0_register();
    let number = to.full_register().number() as Gpr;
    let value = match to.size() {
        8 => address,
        4 => u64::from(address as u32),
        _ => return false,
    };
    emitter.constant(number, value);
    true
}

/// Within 2 GB, the displacement is adjusted.
fn near(original: &Original, address: u64, emitter: &mut Emitter) -> bool {
    let mut bytes = [0; 15];
    let (length, at) = (original.bytes.len(), original.offsets.displacement_offset());
    if original.offsets.displacement_size() != 4 || length > 15 || at + 4 > length {
        return false;
    }
    let next = emitter.here() + length as u64;
    let Ok(displacement) = i32::try_from(address.wrapping_sub(next) as i64) else {
        return false;
    };
    bytes[..length].copy_from_slice(original.bytes);
    bytes[at..at + 4].copy_from_slice(&displacement.to_le_bytes());
    emitter.bytes(&bytes[..length]);
    true
}

/// Farther away, a borrowed register holds the address.
fn far(original: &Original, address: u64, emitter: &mut Emitter) -> bool {
    let Some(register) = [0, 1, 2, 3, 6, 7]
        .into_iter()
        .find(|it: &Gpr| original.used & 1 << it == 0)
    else {
        return false;
    };
    let (length, at) = (original.bytes.len(), original.offsets.displacement_offset());
    if original.offsets.displacement_size() != 4 || length > 15 || at == 0 || at + 4 > length {
        return false;
    }
    let mut bytes = [0; 15];
    bytes[..at].copy_from_slice(&original.bytes[..at]);
    // The byte before the displacement has the base register's number. 5 means the instruction pointer.
    bytes[at - 1] = bytes[at - 1] & !7 | register;
    let rest = &original.bytes[at + 4..];
    bytes[at..at + rest.len()].copy_from_slice(rest);
    let bytes = &bytes[..length - 4];
    if !is_same_elsewhere(original.instruction, bytes, register) {
        return false;
    }
    emitter.store(tls::spill(0), register);
    emitter.constant(register, address);
    emitter.bytes(bytes);
    emitter.load(register, tls::spill(0));
    true
}

/// Whether these bytes decode to the same instruction with this register as its base.
fn is_same_elsewhere(instruction: &Instruction, bytes: &[u8], register: Gpr) -> bool {
    let Ok(mut decoder) = Decoder::try_new(64, bytes, DecoderOptions::NONE) else {
        return false;
    };
    let found = decoder.decode();
    let operands = (0..instruction.op_count()).all(|it| {
        instruction.op_kind(it) != OpKind::Register
            || found.op_register(it) == instruction.op_register(it)
    });
    found.code() == instruction.code()
        && found.len() == bytes.len()
        && found.memory_base().is_gpr64()
        && found.memory_base().number() == usize::from(register)
        && found.memory_index() == Register::None
        && found.memory_displacement64() == 0
        && operands
}
