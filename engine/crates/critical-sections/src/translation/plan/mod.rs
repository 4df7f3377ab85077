//! What one instruction does: its [steps](crate::step), where it continues, and which registers it changes.
//!
//! Today's processors copy values in more ways than the paper's `MOV`: pushes and pops, moves of parts of vector registers,
//! exchanges, conditional moves and string instructions. All other instructions invalidate what they write.

mod contents;
mod flow;
mod general;
mod operands;
mod vector;

use iced_x86::{Instruction, InstructionInfoFactory, OpAccess, OpKind};

pub(crate) use contents::Plan;
pub(crate) use flow::Flow;
pub(crate) use operands::{Operand, operand};

use contents::{chunk, general, named};

use super::emit::{Gpr, RAX, RCX};
use crate::step::{Address, Named, Spot, Step, Value};

/// Makes plans. Creating it allocates; planning does not.
pub(crate) struct Planner(InstructionInfoFactory);

impl Planner {
    pub(crate) fn new() -> Self {
        let mut factory = InstructionInfoFactory::new();
        // Its internal lists grow to the longest size: this instruction uses all vector registers.
        let widest = Instruction::with(iced_x86::Code::VEX_Vzeroall);
        let _ = factory.info(&widest);
        Planner(factory)
    }

    pub(crate) fn plan(&mut self, instruction: &Instruction) -> Plan {
        let flow = flow::flow(instruction);
        let mut plan = Plan::new(flow);
        if flow == Flow::Stop {
            return plan;
        }
        let info = self.0.info(instruction);
        for it in info.used_registers() {
            let register = it.register();
            let writes = writes(it.access());
            if register.is_gpr() {
                let bit = 1 << register.full_register().number();
                plan.used |= bit;
                plan.written |= if writes { bit } else { 0 };
            } else if register.is_vector_register() && writes {
                plan.vectors_written |= 1 << register.number();
            }
        }
        if flow != Flow::Next {
            branches(instruction, &mut plan);
            return plan;
        }
        let copies = general::plan(instruction, &mut plan) || vector::plan(instruction, &mut plan);
        if !copies {
            otherwise(instruction, info, &mut plan);
        }
        plan
    }
}

/// A branch, a call, a return or a system call. Return addresses are not reported, because nothing copies them.
fn branches(instruction: &Instruction, plan: &mut Plan) {
    match (plan.flow, operand(instruction, 0)) {
        (Flow::JumpIndirect | Flow::CallIndirect, Operand::Register(it)) => {
            plan.uses(it.number() as Gpr);
        }
        (Flow::JumpIndirect | Flow::CallIndirect, Operand::Memory(Some(it))) => {
            plan.follows(&named(&it));
            plan.reads(&named(&it));
        }
        (Flow::JumpIfCount(_), _) => plan.overwrites(general(RCX), Value::Unknown),
        (Flow::System, _) => {
            for argument in ARGUMENTS_OF_SYSTEM_CALLS {
                plan.uses(argument);
            }
            for result in [RAX, RCX, R11] {
                plan.overwrites(general(result), Value::Unknown);
            }
        }
        _ => {}
    }
}

const R11: Gpr = 11;
/// `rdi`, `rsi`, `rdx`, `r10`, `r8`, `r9`.
const ARGUMENTS_OF_SYSTEM_CALLS: [Gpr; 6] = [7, 6, 2, 10, 8, 9];

fn writes(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn reads(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

/// An instruction that copies nothing: it uses what it reads, and overwrites what it writes.
fn otherwise(instruction: &Instruction, info: &iced_x86::InstructionInfo, plan: &mut Plan) {
    let constant = is_constant(instruction);
    for it in info.used_registers() {
        let register = it.register();
        if !reads(it.access()) || constant {
            continue;
        }
        if register.is_gpr() {
            plan.uses(register.full_register().number() as Gpr);
        } else if register.is_vector_register() && register.number() < 16 {
            for half in 0..2 {
                plan.steps.push(Step::Use {
                    of: chunk(register.number() as u8, half),
                    value: Value::Unknown,
                });
            }
        }
    }
    for it in info.used_memory() {
        if reads(it.access()) {
            read_memory(it, plan);
        }
        if writes(it.access()) {
            written_memory(instruction, it, plan);
        }
    }
    for it in info.used_registers() {
        let register = it.register();
        if !writes(it.access()) {
            continue;
        }
        if register.is_gpr() {
            let to = general(register.full_register().number() as Gpr);
            plan.overwrites(to, Value::Unknown);
        } else if register.is_vector_register() {
            let chunks = if register.size() > 16 { 8 } else { 2 };
            for which in 0..chunks {
                plan.overwrites(chunk(register.number() as u8, which), Value::Unknown);
            }
        }
    }
}

/// Whether the result does not depend on the registers' values, as with `xor eax, eax`.
fn is_constant(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic::{Pxor, Sub, Vpxor, Vpxord, Vpxorq, Vxorps, Xor, Xorps};
    let last = instruction.op_count().saturating_sub(1);
    matches!(
        instruction.mnemonic(),
        Xor | Sub | Pxor | Xorps | Vpxor | Vpxord | Vpxorq | Vxorps
    ) && last > 0
        && instruction.op_kind(last) == OpKind::Register
        && instruction.op_kind(last - 1) == OpKind::Register
        && instruction.op_register(last) == instruction.op_register(last - 1)
}

/// Memory that an instruction reads other than by copying it.
fn read_memory(memory: &iced_x86::UsedMemory, plan: &mut Plan) {
    if let Some(address) = operands::used_address(memory) {
        let bytes = memory.memory_size().size().clamp(1, 64);
        for offset in (0..bytes).step_by(8) {
            let part = address.part(offset as u64, (bytes - offset).min(8) as u8);
            plan.reads(&named(&part));
        }
    }
}

/// Memory that an instruction writes other than by copying.
fn written_memory(instruction: &Instruction, memory: &iced_x86::UsedMemory, plan: &mut Plan) {
    let Some(address) = operands::used_address(memory) else {
        return;
    };
    let bytes = memory.memory_size().size();
    if matches!(bytes, 1 | 2 | 4 | 8) {
        let value = match result(instruction, &address, plan.written) {
            Some(it) => {
                plan.result = Some(it.part(0, bytes as u8));
                Value::In(Named::Result)
            }
            None => Value::Unknown,
        };
        let to = Spot::Memory(named(&address.part(0, bytes as u8)));
        plan.overwrites(to, value);
        return;
    }
    for offset in (0..bytes.min(64)).step_by(8) {
        let part = address.part(offset as u64, (bytes - offset).min(8) as u8);
        plan.overwrites(Spot::Memory(named(&part)), Value::Unknown);
    }
}

/// The address where the result can be read after the instruction. Atomic writes are not read back: another thread may free
/// the memory as soon as this one has dropped its reference.
fn result(instruction: &Instruction, address: &Address<Gpr>, written: u16) -> Option<Address<Gpr>> {
    let registers = [address.base, address.index].into_iter().flatten();
    let changed = registers.fold(0, |all, it| all | 1_u16 << it) & written != 0;
    (!changed && !instruction.has_lock_prefix()).then_some(*address)
}
