//! Copies through general registers, the stack and strings.

use iced_x86::{Code, ConditionCode, Instruction, Mnemonic};

use super::contents::{Plan, after, before, general, low_part, named};
use super::operands::{Operand, operand};
use crate::step::{Address, Held, Named, Spot, Step, Value, When};
use crate::translation::emit::{Gpr, RAX, RCX, RDI, RSP};

const RSI: Gpr = 6;
const RBP: Gpr = 5;
/// The registers that functions preserve: `rbx`, `rbp`, `r12` to `r15`.
const KEPT: u16 = 0b1111_0000_0010_1000;

/// Adds the steps of a copying instruction. Returns `false` for any other.
pub(crate) fn plan(instruction: &Instruction, plan: &mut Plan) -> bool {
    use Mnemonic as M;
    if instruction.is_string_instruction() {
        return string(instruction, plan);
    }
    match instruction.mnemonic() {
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Movnti => moves(instruction, plan),
        M::Push => push(instruction, plan),
        M::Pop => pop(instruction, plan),
        M::Leave => leave(plan),
        M::Lea => lea(instruction, plan),
        M::Xchg => exchange(instruction, plan),
        M::Cmpxchg => compare_exchange(instruction, plan),
        M::Xadd => exchange_add(instruction, plan),
        // `cmovcc`: other instructions with conditions have one operand or three.
        _ if instruction.condition_code() != ConditionCode::None && instruction.op_count() == 2 => {
            conditional(instruction, plan)
        }
        _ => false,
    }
}

fn moves(instruction: &Instruction, plan: &mut Plan) -> bool {
    match (operand(instruction, 0), operand(instruction, 1)) {
        (Operand::Register(to), Operand::Register(from)) => {
            let (Some(to), Some(from)) = (low_part(to), low_part(from)) else {
                return false;
            };
            plan.moves(general(from), general(to), Value::Unknown);
        }
        (Operand::Register(to), Operand::Memory(Some(from))) => {
            let Some(to) = low_part(to) else {
                return false;
            };
            let from = named(&from);
            plan.follows(&from);
            let value = after(Held::General(to));
            plan.moves(Spot::Memory(from), general(to), value);
        }
        (Operand::Memory(Some(to)), Operand::Register(from)) => {
            let Some(from) = low_part(from) else {
                return false;
            };
            let to = named(&to);
            plan.follows(&to);
            let value = before(Held::General(from));
            plan.moves(general(from), Spot::Memory(to), value);
        }
        (Operand::Memory(Some(to)), Operand::Immediate(value)) => {
            let to = named(&to);
            plan.follows(&to);
            plan.overwrites(Spot::Memory(to), Value::Constant(value));
        }
        _ => return false,
    }
    true
}

/// The eight bytes at `rsp + displacement`, relative to `rsp` before the instruction.
fn stack(displacement: i64) -> Address<Named> {
    named(&Address {
        base: Some(RSP),
        index: None,
        scale: 1,
        displacement: displacement as u64,
        of_thread: false,
        bytes: 8,
    })
}

fn push(instruction: &Instruction, plan: &mut Plan) -> bool {
    if instruction.stack_pointer_increment() != -8 {
        return false;
    }
    let to = stack(-8);
    match operand(instruction, 0) {
        Operand::Register(from) => {
            let Some(from) = low_part(from) else {
                return false;
            };
            let value = before(Held::General(from));
            if KEPT & 1 << from == 0 {
                plan.moves(general(from), Spot::Memory(to), value);
            } else {
                let register = Held::General(from);
                plan.steps.push(Step::Keep {
                    register,
                    to,
                    value,
                });
            }
        }
        Operand::Memory(Some(from)) => {
            let from = named(&from);
            plan.follows(&from);
            plan.result = Some(Address {
                base: Some(RSP),
                index: None,
                scale: 1,
                displacement: 0,
                of_thread: false,
                bytes: 8,
            });
            let value = Value::In(Named::Result);
            plan.moves(Spot::Memory(from), Spot::Memory(to), value);
        }
        Operand::Immediate(value) => plan.overwrites(Spot::Memory(to), Value::Constant(value)),
        _ => return false,
    }
    true
}

fn pop(instruction: &Instruction, plan: &mut Plan) -> bool {
    let Operand::Register(to) = operand(instruction, 0) else {
        return false;
    };
    let (Some(to), 8) = (low_part(to), instruction.stack_pointer_increment()) else {
        return false;
    };
    let value = after(Held::General(to));
    plan.moves(Spot::Memory(stack(0)), general(to), value);
    true
}

fn leave(plan: &mut Plan) -> bool {
    let from = named(&Address {
        base: Some(RBP),
        index: None,
        scale: 1,
        displacement: 0,
        of_thread: false,
        bytes: 8,
    });
    let value = after(Held::General(RBP));
    plan.moves(Spot::Memory(from), general(RBP), value);
    true
}

/// A computed address is a new value, except with `lea rax, [rbx]`.
fn lea(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (Operand::Register(to), Operand::Memory(Some(of))) =
        (operand(instruction, 0), operand(instruction, 1))
    else {
        return false;
    };
    let Some(to) = low_part(to) else {
        return false;
    };
    match (of.base, of.index, of.displacement) {
        (Some(from), None, 0) if from != RSP => {
            plan.moves(general(from), general(to), Value::Unknown);
        }
        _ => {
            plan.follows(&named(&of));
            plan.overwrites(general(to), Value::Unknown);
        }
    }
    true
}

fn exchange(instruction: &Instruction, plan: &mut Plan) -> bool {
    match (operand(instruction, 0), operand(instruction, 1)) {
        (Operand::Register(one), Operand::Register(other)) => {
            let (Some(one), Some(other)) = (low_part(one), low_part(other)) else {
                return false;
            };
            let value = before(Held::General(one));
            plan.moves(general(one), Spot::Aside, value);
            plan.moves(general(other), general(one), Value::Unknown);
            plan.moves(Spot::Aside, general(other), value);
        }
        (Operand::Memory(Some(memory)), Operand::Register(register)) => {
            let Some(register) = low_part(register) else {
                return false;
            };
            let memory = named(&memory);
            plan.follows(&memory);
            let held = Held::General(register);
            plan.moves(Spot::Memory(memory), Spot::Aside, after(held));
            plan.moves(general(register), Spot::Memory(memory), before(held));
            plan.moves(Spot::Aside, general(register), after(held));
        }
        _ => return false,
    }
    true
}

/// Either memory gets the register and `rax` keeps its value, or `rax` gets the memory's old value.
fn compare_exchange(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (Operand::Memory(Some(memory)), Operand::Register(register)) =
        (operand(instruction, 0), operand(instruction, 1))
    else {
        return false;
    };
    let Some(register) = low_part(register) else {
        return false;
    };
    let memory = named(&memory);
    plan.follows(&memory);
    plan.reads(&memory);
    plan.uses(RAX);
    let rax = Held::General(RAX);
    let (old, new) = (Named::Before(rax), Named::After(rax));
    let place = Spot::Memory(memory);
    plan.moves_if(
        When::Same(old, new, memory.bytes),
        general(register),
        place,
        before(Held::General(register)),
    );
    plan.moves_if(
        When::Differ(old, new, memory.bytes),
        place,
        general(RAX),
        after(rax),
    );
    true
}

fn exchange_add(instruction: &Instruction, plan: &mut Plan) -> bool {
    let (Operand::Memory(Some(memory)), Operand::Register(register)) =
        (operand(instruction, 0), operand(instruction, 1))
    else {
        return false;
    };
    let Some(register) = low_part(register) else {
        return false;
    };
    let memory = named(&memory);
    plan.follows(&memory);
    plan.uses(register);
    let held = Held::General(register);
    plan.moves(Spot::Memory(memory), general(register), after(held));
    plan.overwrites(
        Spot::Memory(memory),
        Value::Sum(Named::Before(held), Named::After(held)),
    );
    true
}

/// The target shows whether a conditional move happened, whenever it could matter.
fn conditional(instruction: &Instruction, plan: &mut Plan) -> bool {
    let Operand::Register(to) = operand(instruction, 0) else {
        return false;
    };
    let Some(to) = low_part(to) else {
        return false;
    };
    let bytes = instruction.op0_register().size() as u8;
    let (old, new) = (
        Named::Before(Held::General(to)),
        Named::After(Held::General(to)),
    );
    match operand(instruction, 1) {
        Operand::Register(from) => {
            let Some(from) = low_part(from) else {
                return false;
            };
            let source = Named::Before(Held::General(from));
            let when = When::Same(source, new, bytes);
            plan.moves_if(when, general(from), general(to), Value::Unknown);
        }
        Operand::Memory(Some(from)) => {
            let from = named(&from);
            plan.follows(&from);
            plan.reads(&from);
            let when = When::Differ(old, new, bytes);
            plan.moves_if(when, Spot::Memory(from), general(to), Value::In(new));
        }
        _ => return false,
    }
    true
}

fn string(instruction: &Instruction, plan: &mut Plan) -> bool {
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let (at_source, at_target) = (Held::General(RSI), Held::General(RDI));
    let bytes = instruction.memory_size().size() as u8;
    match instruction.code() {
        Code::Movsb_m8_m8 | Code::Movsw_m16_m16 | Code::Movsd_m32_m32 | Code::Movsq_m64_m64 => {
            plan.uses(RSI);
            plan.uses(RDI);
            plan.steps.push(Step::Copy {
                from: Named::Before(at_source),
                to: Named::Before(at_target),
                end: Named::After(at_target),
                bytes,
            });
            plan.overwrites(general(RSI), Value::Unknown);
        }
        Code::Stosb_m8_AL | Code::Stosw_m16_AX | Code::Stosd_m32_EAX | Code::Stosq_m64_RAX => {
            plan.uses(RDI);
            plan.steps.push(Step::Fill {
                to: Named::Before(at_target),
                end: Named::After(at_target),
                bytes,
            });
        }
        _ => return false,
    }
    plan.overwrites(general(RDI), Value::Unknown);
    if repeats {
        plan.overwrites(general(RCX), Value::Unknown);
    }
    plan.late = true;
    true
}
