//! Functions of random instructions, all of which terminate.
//!
//! `r15` and `rbx` point into memory, `r14` is an index into it, and `rsp` is the stack. These registers keep their values.
//! All others are arbitrary.

use fulcrum_stats::Random;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Instruction, InstructionBlock, MemoryOperand, Register,
};

use super::machine::MEMORY;

/// Registers that instructions may change.
const FREE: [Register; 12] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::RBP,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
];

/// The instructions of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All instructions.
    All,
    /// Only moves of whole eight bytes, and arithmetic, whose effects are reported completely.
    Words,
}

/// Makes random functions.
pub(crate) struct Generator {
    random: Random,
    kind: Kind,
    code: Vec<Instruction>,
    /// The number of pushes that have not been popped.
    pushed: usize,
}

impl Generator {
    pub(crate) fn new(seed: u64, kind: Kind) -> Self {
        Generator {
            random: Random::new(seed),
            kind,
            code: Vec::new(),
            pushed: 0,
        }
    }

    /// The bytes of position-independent functions.
    pub(crate) fn functions(&mut self, count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|_| self.function(0x10_0000)).collect()
    }

    fn function(&mut self, address: u64) -> Vec<u8> {
        self.code.clear();
        let length = 5 + self.random.index(40);
        for _ in 0..length {
            self.piece(0);
        }
        self.pop_all();
        self.add(Instruction::with(Code::Retnq));
        // Branches refer to instructions by number, from 1.
        for (n, it) in self.code.iter_mut().enumerate() {
            it.set_ip(n as u64 + 1);
        }
        let block = InstructionBlock::new(&self.code, address);
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
        encoded.expect("all of it can be encoded").code_buffer
    }

    fn next(&self) -> u64 {
        self.code.len() as u64 + 1
    }

    fn add(&mut self, instruction: Instruction) -> usize {
        self.code.push(instruction);
        self.code.len() - 1
    }

    fn with<A>(&mut self, made: Result<Instruction, A>) -> usize
    where
        A: std::fmt::Debug,
    {
        self.add(made.expect("operands fit"))
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.index(all.len())]
    }

    fn free(&mut self) -> Register {
        self.of(&FREE)
    }

    fn free32(&mut self) -> Register {
        self.free().full_register32()
    }

    fn any(&mut self) -> Register {
        let read_only = [Register::RBX, Register::R14, Register::R15, Register::RSP];
        match self.random.index(5) {
            0 => self.of(&read_only),
            _ => self.free(),
        }
    }

    fn xmm(&mut self) -> Register {
        Register::XMM0 + self.random.index(16) as u32
    }

    /// An address with room for 64 bytes, often the same one.
    fn memory(&mut self) -> MemoryOperand {
        let words = (MEMORY - 8) as i64;
        let displacement = match self.random.index(3) {
            0 => 8 * self.random.index(4) as i64,
            _ => 8 * self.random.index(words as usize / 2) as i64,
        };
        match self.random.index(4) {
            // `r14` is 2, and `rbx` points to the fifth word.
            0 => MemoryOperand::with_base_index_scale_displ_size(
                Register::R15,
                Register::R14,
                8,
                displacement,
                8,
            ),
            1 => MemoryOperand::with_base_displ_size(Register::RBX, displacement, 8),
            _ => MemoryOperand::with_base_displ_size(Register::R15, displacement, 8),
        }
    }

    /// Below the stack pointer, where leaf functions may keep values.
    fn red_zone(&mut self) -> MemoryOperand {
        let below = 8 * (1 + self.random.index(16)) as i64;
        MemoryOperand::with_base_displ_size(Register::RSP, -below, 8)
    }

    fn piece(&mut self, depth: u32) {
        let kinds = match self.kind {
            Kind::All => 15,
            Kind::Words => 9,
        };
        match self.random.index(kinds) {
            0 | 1 => self.moves(),
            2 => self.arithmetic(),
            3 => self.stack(),
            4 => self.vector_words(),
            5 if depth < 2 => self.branch(depth),
            6 if depth < 2 => self.call(depth),
            7 => self.conditional(),
            8 => self.memory_arithmetic(),
            9 => self.narrow(),
            10 => self.string(),
            11 => self.vectors(),
            12 if depth < 2 => self.indirect(depth),
            13 if depth < 2 => self.repeat(depth),
            14 => self.odd(),
            _ => self.moves(),
        }
    }

    fn moves(&mut self) {
        let (to, from, memory) = (self.free(), self.any(), self.memory());
        match self.random.index(7) {
            0 | 1 => self.with(Instruction::with2(Code::Mov_r64_rm64, to, memory)),
            2 | 3 => self.with(Instruction::with2(Code::Mov_rm64_r64, memory, from)),
            4 => self.with(Instruction::with2(Code::Mov_r64_rm64, to, from)),
            5 => {
                let value = self.random.index(1000) as i32;
                self.with(Instruction::with2(Code::Mov_rm64_imm32, memory, value))
            }
            _ => {
                let place = self.red_zone();
                self.with(Instruction::with2(Code::Mov_rm64_r64, place, from));
                self.with(Instruction::with2(Code::Mov_r64_rm64, to, place))
            }
        };
    }

    fn arithmetic(&mut self) {
        let (to, from) = (self.free(), self.any());
        let codes = [
            Code::Add_r64_rm64,
            Code::Sub_r64_rm64,
            Code::Xor_r64_rm64,
            Code::And_r64_rm64,
            Code::Adc_r64_rm64,
            Code::Sbb_r64_rm64,
            Code::Cmp_r64_rm64,
            Code::Imul_r64_rm64,
            Code::Popcnt_r64_rm64,
        ];
        let code = self.of(&codes);
        match self.random.index(3) {
            0 => {
                let memory = self.memory();
                self.with(Instruction::with2(code, to, memory))
            }
            1 => {
                let base = MemoryOperand::with_base_displ_size(from, 24, 8);
                self.with(Instruction::with2(Code::Lea_r64_m, to, base))
            }
            _ => self.with(Instruction::with2(code, to, from)),
        };
    }

    fn stack(&mut self) {
        if self.pushed > 0 && self.random.index(2) == 0 {
            self.pushed -= 1;
            let to = self.free();
            self.with(Instruction::with1(Code::Pop_r64, to));
            return;
        }
        self.pushed += 1;
        let (from, memory) = (self.any(), self.memory());
        match self.random.index(4) {
            0 => self.with(Instruction::with1(Code::Pushq_imm32, -7)),
            1 => self.with(Instruction::with1(Code::Push_rm64, memory)),
            _ => self.with(Instruction::with1(Code::Push_r64, from)),
        };
    }

    fn pop_all(&mut self) {
        while self.pushed > 0 {
            self.pushed -= 1;
            let to = self.free();
            self.with(Instruction::with1(Code::Pop_r64, to));
        }
    }

    /// Moves parts of vector registers.
    fn vector_words(&mut self) {
        let (a, b, memory, general) = (self.xmm(), self.xmm(), self.memory(), self.any());
        match self.random.index(10) {
            0 => self.with(Instruction::with2(Code::Movups_xmm_xmmm128, a, memory)),
            1 => self.with(Instruction::with2(Code::Movups_xmmm128_xmm, memory, a)),
            2 => self.with(Instruction::with2(Code::Punpcklqdq_xmm_xmmm128, a, b)),
            3 => self.with(Instruction::with2(Code::Movhps_xmm_m64, a, memory)),
            4 => self.with(Instruction::with2(Code::Movhps_m64_xmm, memory, a)),
            5 => self.with(Instruction::with2(Code::Movq_xmm_rm64, a, general)),
            6 => {
                let to = self.free();
                self.with(Instruction::with2(Code::Movq_rm64_xmm, to, a))
            }
            7 => {
                let order = self.of(&[0x4e, 0x44, 0xee, 0xe4]);
                self.with(Instruction::with3(
                    Code::Pshufd_xmm_xmmm128_imm8,
                    a,
                    b,
                    order,
                ))
            }
            8 => self.with(Instruction::with2(Code::Movlps_m64_xmm, memory, a)),
            _ => self.with(Instruction::with2(Code::Movaps_xmm_xmmm128, a, b)),
        };
    }

    /// Skips a few pieces on a condition.
    fn branch(&mut self, depth: u32) {
        let codes = [
            Code::Je_rel32_64,
            Code::Jne_rel32_64,
            Code::Jb_rel32_64,
            Code::Jl_rel32_64,
            Code::Jo_rel32_64,
            Code::Jp_rel32_64,
            Code::Jg_rel32_64,
            Code::Jrcxz_rel8_64,
        ];
        let code = self.of(&codes);
        let jump = self.with(Instruction::with_branch(code, 0));
        self.without_stack(depth, 1);
        let target = self.next();
        self.code[jump].set_near_branch64(target);
        // There is always something to pop.
        let (to, from) = (self.free(), self.any());
        self.with(Instruction::with2(Code::Mov_r64_rm64, to, from));
    }

    /// Pieces that leave the stack balanced, few enough for short jumps.
    fn without_stack(&mut self, depth: u32, pieces: usize) {
        let before = std::mem::take(&mut self.pushed);
        for _ in 0..pieces {
            self.piece(depth + 1);
        }
        self.pop_all();
        self.pushed = before;
    }

    /// Calls a function that stands in the way, and jumps over it.
    fn call(&mut self, depth: u32) {
        let call = self.with(Instruction::with_branch(Code::Call_rel32_64, 0));
        let over = self.with(Instruction::with_branch(Code::Jmp_rel32_64, 0));
        let function = self.next();
        self.code[call].set_near_branch64(function);
        self.without_stack(depth, 3);
        self.add(Instruction::with(Code::Retnq));
        let after = self.next();
        self.code[over].set_near_branch64(after);
        self.moves();
    }

    fn conditional(&mut self) {
        let (to, from) = (self.free(), self.any());
        let codes = [
            Code::Cmove_r64_rm64,
            Code::Cmovne_r64_rm64,
            Code::Cmovb_r64_rm64,
            Code::Cmovg_r64_rm64,
        ];
        let code = self.of(&codes);
        match self.random.index(2) {
            0 => {
                let memory = self.memory();
                self.with(Instruction::with2(code, to, memory))
            }
            _ => self.with(Instruction::with2(code, to, from)),
        };
    }

    fn memory_arithmetic(&mut self) {
        let (from, memory) = (self.any(), self.memory());
        match self.random.index(6) {
            0 => self.with(Instruction::with2(Code::Add_rm64_r64, memory, from)),
            1 => self.with(Instruction::with1(Code::Inc_rm64, memory)),
            2 => self.with(Instruction::with2(Code::Sub_rm64_imm8, memory, 3)),
            3 => {
                let register = self.free();
                self.with(Instruction::with2(Code::Xchg_rm64_r64, memory, register))
            }
            4 => {
                let register = self.free();
                self.with(Instruction::with2(Code::Xadd_rm64_r64, memory, register))
            }
            _ => self.with(Instruction::with2(Code::Cmpxchg_rm64_r64, memory, from)),
        };
    }

    /// Accesses fewer than eight bytes.
    fn narrow(&mut self) {
        let (to, from, memory) = (self.free32(), self.free32(), self.memory());
        match self.random.index(9) {
            0 => self.with(Instruction::with2(Code::Mov_r32_rm32, to, memory)),
            1 => self.with(Instruction::with2(Code::Mov_rm32_r32, memory, from)),
            2 => self.with(Instruction::with2(Code::Movzx_r32_rm8, to, memory)),
            3 => self.with(Instruction::with2(Code::Movsx_r32_rm16, to, memory)),
            4 => self.with(Instruction::with1(Code::Setne_rm8, memory)),
            5 => self.with(Instruction::with2(
                Code::Mov_r8_rm8,
                Register::AH,
                Register::CL,
            )),
            6 => {
                // Without a prefix, which `r15` needs.
                let memory = MemoryOperand::with_base_displ_size(Register::RBX, 16, 8);
                self.with(Instruction::with2(Code::Mov_rm8_r8, memory, Register::DH))
            }
            7 => self.with(Instruction::with2(Code::Or_rm8_imm8, memory, 0x55)),
            _ => self.with(Instruction::with2(Code::Xchg_rm32_r32, to, from)),
        };
    }

    fn string(&mut self) {
        let (from, to) = (self.memory(), self.memory());
        let count = self.random.index(8) as i32;
        self.with(Instruction::with2(Code::Lea_r64_m, Register::RSI, from));
        self.with(Instruction::with2(Code::Lea_r64_m, Register::RDI, to));
        self.with(Instruction::with2(
            Code::Mov_r32_imm32,
            Register::ECX,
            count,
        ));
        match self.random.index(5) {
            0 => self.with(Instruction::with_rep_movsq(64)),
            1 => self.with(Instruction::with_rep_movsb(64)),
            2 => self.with(Instruction::with_rep_stosq(64)),
            3 => self.with(Instruction::with_movsq(
                64,
                Register::None,
                iced_x86::RepPrefixKind::None,
            )),
            _ => self.with(Instruction::with_repe_cmpsb(64)),
        };
    }

    fn vectors(&mut self) {
        let (a, b, memory) = (self.xmm(), self.xmm(), self.memory());
        let wide = |it: Register| Register::YMM0 + it.number() as u32;
        match self.random.index(8) {
            0 => self.with(Instruction::with2(Code::Paddq_xmm_xmmm128, a, b)),
            1 => self.with(Instruction::with2(Code::Pxor_xmm_xmmm128, a, a)),
            2 => self.with(Instruction::with2(
                Code::VEX_Vmovdqu_ymm_ymmm256,
                wide(a),
                memory,
            )),
            3 => self.with(Instruction::with2(
                Code::VEX_Vmovdqu_ymmm256_ymm,
                memory,
                wide(a),
            )),
            4 => self.with(Instruction::with3(
                Code::VEX_Vpaddq_xmm_xmm_xmmm128,
                a,
                b,
                memory,
            )),
            5 => self.with(Instruction::with3(
                Code::VEX_Vextracti128_xmmm128_ymm_imm8,
                a,
                wide(b),
                1,
            )),
            6 => self.with(Instruction::with3(
                Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128,
                a,
                b,
                a,
            )),
            _ => self.with(Instruction::with2(Code::Movsd_xmm_xmmm64, a, memory)),
        };
    }

    /// Jumps or calls through a register.
    fn indirect(&mut self, depth: u32) {
        let register = self.free();
        let place = MemoryOperand::with_base_displ_size(Register::RIP, 1, 8);
        let lea = self.with(Instruction::with2(Code::Lea_r64_m, register, place));
        let calls = self.random.index(2) == 0;
        if calls {
            self.with(Instruction::with1(Code::Call_rm64, register));
            let over = self.with(Instruction::with_branch(Code::Jmp_rel32_64, 0));
            let function = self.next();
            self.code[lea].set_memory_displacement64(function);
            self.without_stack(depth, 2);
            self.add(Instruction::with(Code::Retnq));
            let after = self.next();
            self.code[over].set_near_branch64(after);
        } else {
            self.with(Instruction::with1(Code::Jmp_rm64, register));
            self.without_stack(depth, 1);
            let after = self.next();
            self.code[lea].set_memory_displacement64(after);
        }
        self.moves();
    }

    /// A loop with its counter in memory, because pieces change all registers.
    fn repeat(&mut self, depth: u32) {
        let times = 1 + self.random.index(6) as i32;
        self.with(Instruction::with1(Code::Pushq_imm32, times));
        let start = self.next();
        self.without_stack(depth, 2);
        let counter = MemoryOperand::with_base(Register::RSP);
        self.with(Instruction::with1(Code::Dec_rm64, counter));
        self.with(Instruction::with_branch(Code::Jne_rel32_64, start));
        let to = self.free();
        self.with(Instruction::with1(Code::Pop_r64, to));
    }

    fn odd(&mut self) {
        let (to, from) = (self.free(), self.free());
        match self.random.index(6) {
            0 => {
                let canary = MemoryOperand::new(
                    Register::None,
                    Register::None,
                    1,
                    0x28,
                    4,
                    false,
                    Register::FS,
                );
                self.with(Instruction::with2(Code::Mov_r64_rm64, to, canary))
            }
            1 => self.with(Instruction::with2(Code::Xchg_rm64_r64, to, from)),
            2 => self.with(Instruction::with1(Code::Bswap_r64, to)),
            3 => self.add(Instruction::with(Code::Nopw)),
            4 => {
                // Reads the code itself as data.
                let place = MemoryOperand::with_base_displ_size(Register::RIP, 1, 8);
                self.with(Instruction::with2(Code::Add_r64_rm64, to, place))
            }
            _ => self.add(Instruction::with(Code::Cqo)),
        };
    }
}
