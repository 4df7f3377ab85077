//! How an instruction goes on, and which ones run out of line at all.

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register};

/// How an instruction goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next one. It may be copied anywhere.
    Next,
    /// Jumps to an address.
    Jump(u64),
    /// Jumps under a condition, by the condition's number in opcodes.
    JumpIf(u8, u64),
    /// Jumps under a condition on `rcx`.
    JumpIfCount(u64),
    /// Jumps to where its operand says.
    JumpIndirect,
    /// Calls an address.
    Call(u64),
    /// Calls what its operand says.
    CallIndirect,
    /// Returns, and drops so many bytes of arguments.
    Return(u16),
    /// Calls the system.
    System,
    /// Only its own place is safe for it: the thread goes on natively.
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
        // Both number conditions as opcodes do; iced's first one is "none".
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
    // What moves the stack pointer to an unknown place and reads from the old one.
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

/// Addresses of 32 bits are rare enough to be left alone.
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
