//! Where an instruction continues, and which instructions run out of line at all.

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// Where an instruction continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// At the next instruction. It can be copied anywhere.
    Next,
    /// Jumps to an address.
    Jump(u64),
    /// Jumps on a condition, given by its number in opcodes.
    JumpIf(u8, u64),
    /// Jumps on a condition on `rcx`.
    JumpIfCount(u64),
    /// Jumps to where its operand says.
    JumpIndirect,
    /// Calls an address.
    Call(u64),
    /// Calls what its operand says.
    CallIndirect,
    /// Returns, and drops this many bytes of arguments.
    Return(u16),
    /// Makes a system call.
    System,
    /// It only works in its own place: the thread continues natively.
    Stop,
}

pub(crate) fn flow(instruction: &Instruction) -> Flow {
    match instruction.code() {
        Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => {
            return Flow::Jump(instruction.near_branch_target());
        }
        Code::Jmp_rm64 => return known_memory(instruction, Flow::JumpIndirect),
        Code::Call_rel32_64 => return Flow::Call(instruction.near_branch_target()),
        Code::Call_rm64 => return known_memory(instruction, Flow::CallIndirect),
        Code::Retnq => return Flow::Return(0),
        Code::Retnq_imm16 => return Flow::Return(instruction.immediate16()),
        Code::Syscall => return Flow::System,
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Next => known_memory(instruction, next(instruction)),
        FlowControl::ConditionalBranch => conditional(instruction),
        _ => Flow::Stop,
    }
}

fn conditional(instruction: &Instruction) -> Flow {
    if instruction.op0_kind() != OpKind::NearBranch64 {
        return Flow::Stop;
    }
    let target = instruction.near_branch_target();
    if instruction.is_jcc_short_or_near() {
        // Both number conditions as opcodes do, but iced's first one is "none".
        return Flow::JumpIf(instruction.condition_code() as u8 - 1, target);
    }
    if instruction.is_jcx_short() || instruction.is_loop() || instruction.is_loopcc() {
        return Flow::JumpIfCount(target);
    }
    Flow::Stop
}

/// Instructions without a jump.
fn next(instruction: &Instruction) -> Flow {
    let writes_segment = instruction.op_count() > 0
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().is_segment_register()
        && instruction.mnemonic() != Mnemonic::Push;
    let elsewhere = matches!(
        instruction.mnemonic(),
        Mnemonic::Enter
            | Mnemonic::Popf
            | Mnemonic::Popfd
            | Mnemonic::Popfq
            | Mnemonic::Wrfsbase
            | Mnemonic::Wrgsbase
            | Mnemonic::Lfs
            | Mnemonic::Lgs
            | Mnemonic::Lss
            | Mnemonic::Uiret
            | Mnemonic::INVALID
    );
    // An instruction that moves the stack pointer to an unknown place and reads from the old one.
    let pops_stack_pointer = instruction.mnemonic() == Mnemonic::Pop
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register().full_register() == Register::RSP;
    match writes_segment
        || elsewhere
        || pops_stack_pointer
        || instruction.is_privileged()
        || instruction.is_save_restore_instruction() && instruction.is_stack_instruction()
    {
        true => Flow::Stop,
        false => Flow::Next,
    }
}

/// Addresses of 32 bits are rare, so such instructions stay in place.
fn known_memory(instruction: &Instruction, flow: Flow) -> Flow {
    let narrow = |it: Register| it.is_gpr32() || it == Register::EIP;
    let strings = instruction.op_kinds().any(|it| {
        matches!(
            it,
            OpKind::MemorySegSI
                | OpKind::MemorySegDI
                | OpKind::MemorySegESI
                | OpKind::MemorySegEDI
                | OpKind::MemoryESDI
                | OpKind::MemoryESEDI
        )
    });
    let memory = instruction.op_kinds().any(|it| it == OpKind::Memory)
        && (narrow(instruction.memory_base()) || narrow(instruction.memory_index()));
    if strings || memory { Flow::Stop } else { flow }
}
