//! Counting stubs: a jump displaces a few instructions, which are counted and executed elsewhere (x86-64).
//!
//! A site can take a jump if nothing else in the program can branch into the middle of the five bytes that the jump overwrites. Where
//! that cannot be shown, the site is refused with the reason.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock, MemoryOperand, Mnemonic, OpKind, Register, RflagsBits,
};

/// Length of a jump with a 32-bit displacement.
const JUMP: usize = 5;
/// The flags that adding one changes.
const TOUCHED: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF;
/// The bytes below the stack pointer that functions may use without moving it.
const RED_ZONE: i64 = 128;

/// Whole instructions that a jump would displace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The bytes of the instructions, at least five.
    pub bytes: Vec<u8>,
    /// Whether code after the site may read flags that were set before it.
    pub flags_live: bool,
}

impl Window {
    /// Encodes the stub: counts at `counter`, executes the displaced instructions, jumps back.
    ///
    /// `site`, `at` and `counter` are addresses in the process, within 2 GB of each other.
    pub fn stub(&self, site: u64, at: u64, counter: u64) -> Result<Vec<u8>, String> {
        let mut code = self.count(counter)?;
        let displaced = decode(&self.bytes, site);
        let back = site + self.bytes.len() as u64;
        let (last, before) = displaced.split_last().ok_or("no instruction is there")?;
        code.extend(before);
        match last.flow_control() {
            // The callee must return to the original code, because unwinders know nothing of stubs.
            FlowControl::Call | FlowControl::IndirectCall => {
                code.extend(push_address(back)?);
                code.push(as_jump(last)?);
            }
            _ => {
                code.push(*last);
                if last.flow_control() != FlowControl::UnconditionalBranch {
                    code.push(branch(Code::Jmp_rel32_64, back)?);
                }
            }
        }
        let block = InstructionBlock::new(&code, at);
        BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)
            .map(|result| result.code_buffer)
            .map_err(|error| error.to_string())
    }

    fn count(&self, counter: u64) -> Result<Vec<Instruction>, String> {
        let memory = MemoryOperand::with_base_displ(Register::RIP, counter as i64);
        let mut increment =
            Instruction::with1(Code::Inc_rm64, memory).map_err(|error| error.to_string())?;
        increment.set_has_lock_prefix(true);
        if !self.flags_live {
            return Ok(vec![increment]);
        }
        let stack = |by: i64| {
            let memory = MemoryOperand::with_base_displ(Register::RSP, by);
            Instruction::with2(Code::Lea_r64_m, Register::RSP, memory)
        };
        let all = || {
            Ok::<_, iced_x86::IcedError>(vec![
                stack(-RED_ZONE)?,
                Instruction::with1(Code::Push_r64, Register::RAX)?,
                Instruction::with(Code::Lahf),
                Instruction::with1(Code::Seto_rm8, Register::AL)?,
                increment,
                // 0x7f + 1 overflows: sets OF as it was.
                Instruction::with2(Code::Add_AL_imm8, Register::AL, 0x7f)?,
                Instruction::with(Code::Sahf),
                Instruction::with1(Code::Pop_r64, Register::RAX)?,
                stack(RED_ZONE)?,
            ])
        };
        all().map_err(|error| error.to_string())
    }
}

/// The jump that is written over the site. `None` if the stub is too far away.
pub fn jump_to(site: u64, stub: u64) -> Option<[u8; JUMP]> {
    let distance = i64::try_from(i128::from(stub) - i128::from(site) - JUMP as i128).ok()?;
    let distance = i32::try_from(distance).ok()?.to_le_bytes();
    Some([0xe9, distance[0], distance[1], distance[2], distance[3]])
}

fn branch(code: Code, target: u64) -> Result<Instruction, String> {
    Instruction::with_branch(code, target).map_err(|error| error.to_string())
}

/// Pushes an address without touching a register: the low half, sign-extended, then the high half over it.
fn push_address(address: u64) -> Result<[Instruction; 2], String> {
    let all = || {
        let push = Instruction::with1(Code::Pushq_imm32, address as u32 as i32)?;
        let high = MemoryOperand::with_base_displ(Register::RSP, 4);
        let set = Instruction::with2(Code::Mov_rm32_imm32, high, (address >> 32) as i32)?;
        Ok::<_, iced_x86::IcedError>([push, set])
    };
    all().map_err(|error| error.to_string())
}

/// The jump to the target of a call.
fn as_jump(call: &Instruction) -> Result<Instruction, String> {
    let mut jump = *call;
    match call.code() {
        Code::Call_rel32_64 => return branch(Code::Jmp_rel32_64, call.near_branch_target()),
        Code::Call_rm64 => jump.set_code(Code::Jmp_rm64),
        _ => return Err("it calls in an unusual way".into()),
    }
    Ok(jump)
}

fn decode(bytes: &[u8], at: u64) -> Vec<Instruction> {
    Decoder::with_ip(64, bytes, at, DecoderOptions::NONE)
        .into_iter()
        .collect()
}

/// A module's code and the extents of its functions, sorted.
pub(crate) struct Text<'a> {
    sections: Vec<(u64, &'a [u8])>,
    functions: Vec<(u64, u64)>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(sections: Vec<(u64, &'a [u8])>, functions: Vec<(u64, u64)>) -> Text<'a> {
        Text {
            sections,
            functions,
        }
    }

    fn bytes(&self, start: u64, end: u64) -> Option<&'a [u8]> {
        self.sections.iter().find_map(|&(address, data)| {
            let from = usize::try_from(start.checked_sub(address)?).ok()?;
            let to = usize::try_from(end.checked_sub(address)?).ok()?;
            data.get(from..to)
        })
    }

    /// The instructions that a jump at this address displaces, or why it cannot be placed there.
    pub(crate) fn window(&self, site: u64) -> Result<Window, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("jumps are supported on x86-64 only".into());
        }
        let after = self.functions.partition_point(|it| it.0 <= site);
        let function = self.functions[..after].last().filter(|it| site < it.1);
        let &(start, end) = function.ok_or("no known function contains it")?;
        let code = self
            .bytes(start, end)
            .ok_or("its function is not in the file")?;
        let instructions = decode(code, start);
        let first = instructions
            .iter()
            .position(|it| it.ip() == site)
            .ok_or("no instruction begins there")?;
        let mut length = 0;
        let mut inner = Vec::new();
        for instruction in &instructions[first..] {
            if length > 0 {
                inner.push(instruction.ip());
            }
            check(instruction)?;
            length += instruction.len();
            if length >= JUMP {
                break;
            }
            if instruction.flow_control() != FlowControl::Next
                && instruction.flow_control() != FlowControl::ConditionalBranch
            {
                return Err("a branch ends the code there before there is room for a jump".into());
            }
        }
        if length < JUMP {
            return Err("the function ends before there is room for a jump".into());
        }
        if !inner.is_empty() {
            self.check_arrivals(&instructions, &inner)?;
        }
        // A branch back to the displaced code would continue in the stub, uncounted.
        let window = site..site + length as u64;
        let returns = instructions[first..]
            .iter()
            .take_while(|it| it.ip() < window.end)
            .any(|it| is_near(it) && window.contains(&it.near_branch_target()));
        if returns {
            return Err("the displaced code branches back to itself".into());
        }
        let from = (site - start) as usize;
        let window = Window {
            bytes: code[from..from + length].to_vec(),
            flags_live: flags_live(&instructions[first..]),
        };
        // Only an attempt shows whether the code can be moved. Any near address will do.
        window.stub(site, site + 0x10_0000, site + 0x20_0000)?;
        Ok(window)
    }

    /// Checks that these addresses are only reached from the preceding instruction.
    fn check_arrivals(&self, function: &[Instruction], inner: &[u64]) -> Result<(), String> {
        let computed = function.iter().any(|it| {
            it.flow_control() == FlowControl::IndirectBranch && !it.is_ip_rel_memory_operand()
        });
        if computed {
            return Err("its function has a computed jump, which may lead into the middle of the displaced code".into());
        }
        for &(start, end) in &self.functions {
            let Some(code) = self.bytes(start, end) else {
                continue;
            };
            let mut decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
            let mut instruction = Instruction::default();
            while decoder.can_decode() {
                decoder.decode_out(&mut instruction);
                if is_near(&instruction) && inner.contains(&instruction.near_branch_target()) {
                    return Err("a branch leads into the middle of the displaced code".into());
                }
            }
        }
        Ok(())
    }
}

/// Whether an instruction is a direct branch.
fn is_near(instruction: &Instruction) -> bool {
    instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64
}

/// Refuses instructions that cannot be moved.
fn check(instruction: &Instruction) -> Result<(), String> {
    let uses_stack = |it: &Instruction| {
        (0..it.op_count()).any(|operand| match it.op_kind(operand) {
            OpKind::Memory => {
                it.memory_base() == Register::RSP || it.memory_index() == Register::RSP
            }
            OpKind::Register => it.op_register(operand) == Register::RSP,
            _ => false,
        })
    };
    match instruction.flow_control() {
        FlowControl::IndirectCall if uses_stack(instruction) => {
            Err("its call goes through the stack".into())
        }
        FlowControl::Next
        | FlowControl::ConditionalBranch
        | FlowControl::UnconditionalBranch
        | FlowControl::Call
        | FlowControl::IndirectCall => {
            if instruction.mnemonic() == Mnemonic::INVALID {
                Err("the code there cannot be decoded".into())
            } else {
                Ok(())
            }
        }
        FlowControl::Return | FlowControl::IndirectBranch => Ok(()),
        _ => Err("the instruction there cannot be moved".into()),
    }
}

/// Whether these instructions read flags that an increment changes, before they set them.
fn flags_live(instructions: &[Instruction]) -> bool {
    let mut live = TOUCHED;
    for instruction in instructions.iter().take(64) {
        if instruction.rflags_read() & live != 0 {
            return true;
        }
        live &= !instruction.rflags_modified();
        if live == 0 {
            return false;
        }
        match instruction.flow_control() {
            // Flags pass neither into nor out of functions.
            FlowControl::Call | FlowControl::IndirectCall | FlowControl::Return => return false,
            FlowControl::Next => {}
            _ => return true,
        }
    }
    true
}
