//! Emits machine code that preserves registers and flags, except those it is meant to change.
//!
//! Instructions are encoded by hand. The encoder of `iced-x86`, which decodes them here, writes into a `Vec`, and nothing
//! may be allocated while a thread is in a critical section.

use crate::memory::tls::Word;
use crate::step::Address;

/// A general register by its number in instructions.
pub(crate) type Gpr = u8;

pub(crate) const RAX: Gpr = 0;
pub(crate) const RCX: Gpr = 1;
pub(crate) const RDX: Gpr = 2;
pub(crate) const RBX: Gpr = 3;
pub(crate) const RSP: Gpr = 4;
pub(crate) const RDI: Gpr = 7;

const REX_W: u8 = 0x48;
const FS: u8 = 0x64;
/// The byte after an opcode whose memory operand is a 32-bit absolute address.
const ABSOLUTE: u8 = 0x04;
const NO_BASE_OR_INDEX: u8 = 0x25;

/// A displacement that is not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole(usize);

/// Writes machine code into given memory. Drops what does not fit, and reports it at the end.
pub(crate) struct Emitter {
    start: *mut u8,
    room: usize,
    length: usize,
    overflowed: bool,
    /// The offset of the thread's words from the thread pointer.
    words: i64,
}

impl Emitter {
    /// # Safety
    /// `room` bytes at `start` are writable, and nobody else uses them while the emitter exists.
    pub(crate) unsafe fn new(start: *mut u8, room: usize, words: i64) -> Self {
        Emitter {
            start,
            room,
            length: 0,
            overflowed: false,
            words,
        }
    }

    /// The address of the next instruction.
    pub(crate) fn here(&self) -> u64 {
        self.start.addr() as u64 + self.length as u64
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn start(&self) -> u64 {
        self.start.addr() as u64
    }

    /// Whether something did not fit.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > self.room - self.length {
            self.overflowed = true;
            return;
        }
        // Copied by hand, because libc's `memcpy` may use registers that have not been saved.
        for (n, byte) in bytes.iter().enumerate() {
            // SAFETY: within the room that the constructor's caller promised.
            unsafe { self.start.add(self.length + n).write_volatile(*byte) };
        }
        self.length += bytes.len();
    }

    fn patch(&mut self, at: usize, bytes: [u8; 4]) {
        if at + 4 > self.length {
            self.overflowed = true;
            return;
        }
        for (n, byte) in bytes.iter().enumerate() {
            // SAFETY: within the bytes already written.
            unsafe { self.start.add(at + n).write_volatile(*byte) };
        }
    }

    fn word(&mut self, word: Word) {
        let at = self.words + word.0 as i64;
        match i32::try_from(at) {
            Ok(at) => self.bytes(&at.to_le_bytes()),
            Err(_) => self.overflowed = true,
        }
    }

    /// Emits an instruction on a word of the thread, given its opcode and the register field.
    fn on_word(&mut self, rex: u8, opcode: &[u8], field: u8, word: Word) {
        self.bytes(&[FS]);
        let rex = rex | (field >> 3 & 1) << 2;
        if rex != 0 {
            self.bytes(&[0x40 | rex]);
        }
        self.bytes(opcode);
        self.bytes(&[(field & 7) << 3 | ABSOLUTE, NO_BASE_OR_INDEX]);
        self.word(word);
    }

    /// `mov fs:[word], register`
    pub(crate) fn store(&mut self, word: Word, register: Gpr) {
        self.on_word(8, &[0x89], register, word);
    }

    /// `mov register, fs:[word]`
    pub(crate) fn load(&mut self, register: Gpr, word: Word) {
        self.on_word(8, &[0x8b], register, word);
    }

    /// `mov qword ptr fs:[word], value`
    pub(crate) fn store_constant(&mut self, word: Word, value: i32) {
        self.on_word(8, &[0xc7], 0, word);
        self.bytes(&value.to_le_bytes());
    }

    /// `pop fs:[word]`
    pub(crate) fn pop_to(&mut self, word: Word) {
        self.on_word(0, &[0x8f], 0, word);
    }

    /// `push fs:[word]`
    pub(crate) fn push_from(&mut self, word: Word) {
        self.on_word(0, &[0xff], 6, word);
    }

    /// `jmp fs:[word]`
    pub(crate) fn jump_to(&mut self, word: Word) {
        self.on_word(0, &[0xff], 4, word);
    }

    /// `movups fs:[word], xmm`: sixteen bytes.
    pub(crate) fn store_xmm(&mut self, word: Word, register: u8) {
        self.on_word(0, &[0x0f, 0x11], register, word);
    }

    /// `vmovdqu fs:[word], ymm`: thirty-two bytes.
    pub(crate) fn store_ymm(&mut self, word: Word, register: u8) {
        let vex = if register < 8 { 0xfe } else { 0x7e };
        let field = (register & 7) << 3 | ABSOLUTE;
        self.bytes(&[FS, 0xc5, vex, 0x7f, field, NO_BASE_OR_INDEX]);
        self.word(word);
    }

    /// `vmovdqu64 fs:[word], register` of AVX-512: 16, 32 or 64 bytes.
    pub(crate) fn store_evex(&mut self, word: Word, register: u8, bytes: u8) {
        let length = match bytes {
            64 => 0x40,
            32 => 0x20,
            _ => 0,
        };
        let first = (!register >> 3 & 1) << 7 | 0x60 | (!register >> 4 & 1) << 4 | 1;
        let field = (register & 7) << 3 | ABSOLUTE;
        let all = [FS, 0x62, first, 0xfe, length | 8, 0x7f];
        self.bytes(&all);
        self.bytes(&[field, NO_BASE_OR_INDEX]);
        self.word(word);
    }

    /// `mov register, value`
    pub(crate) fn constant(&mut self, register: Gpr, value: u64) {
        self.bytes(&[REX_W | register >> 3, 0xb8 | (register & 7)]);
        self.bytes(&value.to_le_bytes());
    }

    /// Loads 1, 2, 4 or 8 bytes from memory into a register and clears its other bytes. If the address has no registers, it
    /// is expected in the register itself.
    pub(crate) fn load_memory(&mut self, register: Gpr, address: &Address<Gpr>) {
        let base = match (address.base, address.index) {
            (None, None) => {
                self.constant(register, address.displacement);
                Some(register)
            }
            (base, _) => base,
        };
        if address.of_thread {
            self.bytes(&[FS]);
        }
        let index = address.index.unwrap_or(RSP);
        let rex = (register >> 3) << 2 | (index >> 3) << 1 | base.unwrap_or(0) >> 3;
        match address.bytes {
            1 => self.bytes(&[REX_W | rex, 0x0f, 0xb6]),
            2 => self.bytes(&[REX_W | rex, 0x0f, 0xb7]),
            4 => self.bytes(&[0x40 | rex, 0x8b]),
            _ => self.bytes(&[REX_W | rex, 0x8b]),
        }
        let scale = address.scale.max(1).trailing_zeros() as u8;
        let field = (register & 7) << 3 | ABSOLUTE;
        let places = scale << 6 | (index & 7) << 3;
        let displacement = match address.base.or(address.index) {
            None => 0,
            Some(_) => address.displacement as i64 as i32,
        };
        match base {
            // Without a base, the displacement has 32 bits as well.
            None => self.bytes(&[field, places | 5]),
            Some(base) => self.bytes(&[0x80 | field, places | (base & 7)]),
        }
        self.bytes(&displacement.to_le_bytes());
    }

    /// `lea to, [to + other]`
    pub(crate) fn add(&mut self, to: Gpr, other: Gpr) {
        let rex = (to >> 3) << 2 | (other >> 3) << 1 | to >> 3;
        let field = (to & 7) << 3 | ABSOLUTE;
        let places = (other & 7) << 3 | (to & 7);
        // Displacement 0, because `r13` and `rbp` have no form without a displacement.
        self.bytes(&[REX_W | rex, 0x8d, 0x40 | field, places, 0]);
    }

    /// `lea rsp, [rsp + bytes]`
    pub(crate) fn move_stack(&mut self, bytes: i32) {
        self.bytes(&[REX_W, 0x8d, 0xa4, 0x24]);
        self.bytes(&bytes.to_le_bytes());
    }

    /// `push qword ptr [rip + …]`, with a word that [`Self::word_here`] places.
    pub(crate) fn push_constant(&mut self) -> Hole {
        self.bytes(&[0xff, 0x35]);
        self.hole()
    }

    /// `jmp`
    pub(crate) fn jump(&mut self) -> Hole {
        self.bytes(&[0xe9]);
        self.hole()
    }

    /// A conditional jump, by the condition's number in opcodes: 0 is `jo`, 15 is `jg`.
    pub(crate) fn jump_if(&mut self, condition: u8) -> Hole {
        self.bytes(&[0x0f, 0x80 | condition]);
        self.hole()
    }

    /// Jumps to an address within 2 GB.
    pub(crate) fn jump_near(&mut self, to: u64) {
        let hole = self.jump();
        self.fill(hole, to);
    }

    fn hole(&mut self) -> Hole {
        let hole = Hole(self.length);
        self.bytes(&[0; 4]);
        hole
    }

    /// Makes the displacement at `hole`, which ends its instruction, lead to `to`.
    pub(crate) fn fill(&mut self, hole: Hole, to: u64) {
        let next = self.start() + hole.0 as u64 + 4;
        match i32::try_from(to.wrapping_sub(next) as i64) {
            Ok(distance) => self.patch(hole.0, distance.to_le_bytes()),
            Err(_) => self.overflowed = true,
        }
    }

    /// Makes the displacement at `hole` lead to here.
    pub(crate) fn fill_here(&mut self, hole: Hole) {
        self.fill(hole, self.here());
    }

    /// Emits eight bytes of data that `hole` leads to.
    pub(crate) fn word_here(&mut self, hole: Hole, value: u64) {
        self.fill_here(hole);
        self.bytes(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

    use super::*;

    fn emitted(emit: impl FnOnce(&mut Emitter)) -> Vec<Instruction> {
        let mut memory = [0_u8; 256];
        // SAFETY: the array is writable and outlives the emitter.
        let mut emitter = unsafe { Emitter::new(memory.as_mut_ptr(), 256, -0x1000) };
        emit(&mut emitter);
        assert!(!emitter.overflowed());
        let length = emitter.length();
        let decoder = Decoder::new(64, &memory[..length], DecoderOptions::NONE);
        decoder.into_iter().collect()
    }

    fn check(emit: impl FnOnce(&mut Emitter), expect: (Mnemonic, Register)) {
        let found = emitted(emit);
        let [one] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(one.memory_segment(), Register::FS, "{one:?}");
        assert_eq!(one.memory_displacement64() as i64, -0x1000 + 24);
        assert_eq!(
            (one.memory_base(), one.memory_index()),
            (Register::None, Register::None)
        );
        let operands = (0..one.op_count()).filter(|it| one.op_kind(*it) == OpKind::Register);
        let register = operands.map(|it| one.op_register(it)).next();
        assert_eq!((one.mnemonic(), register.unwrap_or_default()), expect);
    }

    #[test]
    fn words_of_the_thread_are_reached_by_every_register() {
        let word = Word(24);
        check(|it| it.store(word, RAX), (Mnemonic::Mov, Register::RAX));
        check(|it| it.store(word, 15), (Mnemonic::Mov, Register::R15));
        check(|it| it.load(12, word), (Mnemonic::Mov, Register::R12));
        check(
            |it| it.store_constant(word, -1),
            (Mnemonic::Mov, Register::None),
        );
        check(|it| it.pop_to(word), (Mnemonic::Pop, Register::None));
        check(|it| it.push_from(word), (Mnemonic::Push, Register::None));
        check(|it| it.jump_to(word), (Mnemonic::Jmp, Register::None));
        check(
            |it| it.store_xmm(word, 13),
            (Mnemonic::Movups, Register::XMM13),
        );
        check(
            |it| it.store_ymm(word, 3),
            (Mnemonic::Vmovdqu, Register::YMM3),
        );
        check(
            |it| it.store_ymm(word, 15),
            (Mnemonic::Vmovdqu, Register::YMM15),
        );
        for (bytes, expect) in [
            (16, Register::XMM16),
            (32, Register::YMM16),
            (64, Register::ZMM16),
        ] {
            check(
                |it| it.store_evex(word, 16, bytes),
                (Mnemonic::Vmovdqu64, expect),
            );
        }
        check(
            |it| it.store_evex(word, 27, 64),
            (Mnemonic::Vmovdqu64, Register::ZMM27),
        );
    }

    #[test]
    fn values_are_loaded_from_every_kind_of_address() {
        let address = |base, index, bytes| Address {
            base,
            index,
            scale: 4,
            displacement: -8_i64 as u64,
            of_thread: false,
            bytes,
        };
        for (base, index, bytes) in [
            (Some(5), None, 8),
            (Some(13), Some(12), 4),
            (Some(RSP), None, 2),
            (None, Some(9), 1),
            (Some(12), Some(5), 8),
        ] {
            let found = emitted(|it| it.load_memory(10, &address(base, index, bytes)));
            let [one] = &found[..] else {
                panic!("{found:?}");
            };
            let number = |it: Register| match it {
                Register::None => None,
                it => Some(it.number() as u8),
            };
            assert_eq!(number(one.memory_base()), base, "{one:?}");
            assert_eq!(number(one.memory_index()), index, "{one:?}");
            assert_eq!(one.memory_displacement64() as i64, -8, "{one:?}");
            assert_eq!(one.memory_size().size(), usize::from(bytes), "{one:?}");
            assert_eq!(one.op_register(0).number(), 10);
        }
        let found = emitted(|it| it.load_memory(1, &address(None, None, 8)));
        assert_eq!(found[0].immediate64() as i64, -8);
        assert_eq!(found[1].memory_base(), Register::RCX);
    }
}
