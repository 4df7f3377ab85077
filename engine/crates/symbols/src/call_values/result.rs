//! Finds what a function returns, by the code between its last probe and its end: it moves the result from a place that calls preserve
//! to `rax` or `xmm0`.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};

use super::frame::{Place, RSP, is_preserved};

/// The most instructions that are followed. More do more than restore registers and return.
const MOST_INSTRUCTIONS: usize = 64;

/// The register in which a function returns a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnRegister {
    Rax,
    Xmm0,
}

/// Where a function returns a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReturnSlot {
    pub(crate) register: ReturnRegister,
    /// The size of the value, in bytes.
    pub(crate) size: usize,
}

/// The place of the result when a call returns to `from`, in the function's code, which begins at `start`. `None` if the code that
/// follows computes the result, calls another function, or branches.
pub(crate) fn place(code: &[u8], start: u64, from: u64, slot: ReturnSlot) -> Option<Place> {
    let mut state = State {
        known: Vec::new(),
        pushed: Some(0),
    };
    let mut factory = InstructionInfoFactory::new();
    let mut at = from;
    for _ in 0..MOST_INSTRUCTIONS {
        let instruction = decode(code, start, at)?;
        at = instruction.next_ip();
        match instruction.flow_control() {
            FlowControl::Next => state.step(&instruction, &mut factory),
            FlowControl::Return => {
                let register = match slot.register {
                    ReturnRegister::Rax => Register::RAX,
                    ReturnRegister::Xmm0 => Register::XMM0,
                };
                let held = state.held(register)?;
                return (held.width >= slot.size).then_some(held.place);
            }
            FlowControl::UnconditionalBranch => at = instruction.near_branch_target(),
            // The stack protector: if it finds damage, the function does not return.
            FlowControl::ConditionalBranch if is_failure(code, start, &instruction) => {}
            _ => return None,
        }
    }
    None
}

fn decode(code: &[u8], start: u64, at: u64) -> Option<Instruction> {
    let offset = usize::try_from(at.checked_sub(start)?).ok()?;
    let rest = code.get(offset..).filter(|rest| !rest.is_empty())?;
    let instruction = Decoder::with_ip(64, rest, at, DecoderOptions::NONE).decode();
    (instruction.code() != Code::INVALID).then_some(instruction)
}

/// Whether a branch leads to a call at the very end of the function, which does not return.
fn is_failure(code: &[u8], start: u64, branch: &Instruction) -> bool {
    let target = decode(code, start, branch.near_branch_target());
    target.is_some_and(|it| {
        it.flow_control() == FlowControl::Call
            && decode(code, start, it.next_ip()).is_none_or(|next| next.mnemonic() == Mnemonic::Nop)
    })
}

/// The contents of a register: its `width` lower bytes are those at the place.
#[derive(Clone, Copy)]
struct Held {
    place: Place,
    width: usize,
}

/// What an instruction does to its first register.
enum Effect {
    /// Moves a known value to it.
    Moves(Held),
    /// Moves an unknown value to it.
    MovesUnknown,
    /// Something else.
    Other,
}

impl Effect {
    fn of(moved: Option<Held>) -> Effect {
        moved.map_or(Effect::MovesUnknown, Effect::Moves)
    }
}

struct State {
    /// The contents of registers; the last entry for each counts. `None` if unknown. Other registers are unchanged.
    known: Vec<(Register, Option<Held>)>,
    /// By how much the stack pointer was moved up. `None` if unknown.
    pushed: Option<i64>,
}

/// The width of a whole register.
const WHOLE: usize = 8;

impl State {
    fn step(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        let to = full(instruction.op0_register());
        match self.effect(instruction) {
            Effect::Moves(held) => return self.known.push((to, Some(held))),
            Effect::MovesUnknown => return self.known.push((to, None)),
            Effect::Other => {}
        }
        let info = factory.info(instruction);
        let reads = |access| {
            matches!(
                access,
                OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
            )
        };
        let used = info.used_registers().iter();
        let written = used.filter(|used| !reads(used.access()));
        let written: Vec<Register> = written.map(|used| full(used.register())).collect();
        match instruction.mnemonic() {
            Mnemonic::Pop => self.pushed = self.pushed.map(|it| it + 8),
            Mnemonic::Add
                if instruction.op0_register() == Register::RSP
                    && instruction.op1_kind() != OpKind::Register
                    && instruction.op1_kind() != OpKind::Memory =>
            {
                let more = instruction.immediate(1).cast_signed();
                self.pushed = self.pushed.and_then(|it| it.checked_add(more));
            }
            // `leave`, or another change: the stack pointer is unknown from here on.
            _ if written.contains(&Register::RSP) => self.pushed = None,
            _ => {}
        }
        let written = written.into_iter().filter(|it| *it != Register::RSP);
        self.known.extend(written.map(|register| (register, None)));
    }

    /// The effect of an instruction on its first register.
    fn effect(&self, instruction: &Instruction) -> Effect {
        use Mnemonic::{
            Mov, Movapd, Movaps, Movd, Movq, Movsd, Movss, Movsx, Movsxd, Movzx, Pxor, Xor, Xorps,
        };
        let to = instruction.op0_register();
        if instruction.op0_kind() != OpKind::Register || full(to) == Register::RSP {
            return Effect::Other;
        }
        let (mnemonic, from) = (instruction.mnemonic(), instruction.op1_kind());
        let constant = |value: u64, width| {
            let place = Place::Constant(value.cast_signed());
            Effect::Moves(Held { place, width })
        };
        let is_move = matches!(
            mnemonic,
            Mov | Movzx | Movsx | Movsxd | Movd | Movq | Movss | Movsd | Movapd | Movaps
        );
        match (mnemonic, from) {
            (Xor | Pxor | Xorps, OpKind::Register)
                if to == instruction.op1_register() && to.size() >= 4 =>
            {
                constant(0, WHOLE)
            }
            (Movss | Movsd, OpKind::Register) => Effect::Other,
            (_, OpKind::Register) if is_move => {
                let register = instruction.op1_register();
                Effect::of(self.held(register).map(|held| Held {
                    width: held.width.min(register.size()).min(to.size()),
                    ..held
                }))
            }
            (_, OpKind::Memory) if is_move => {
                let place = self.memory(instruction);
                let width = instruction.memory_size().size().min(to.size());
                Effect::of(place.map(|place| Held { place, width }))
            }
            (Mov, OpKind::Immediate8 | OpKind::Immediate16) => {
                constant(instruction.immediate(1), to.size())
            }
            // The upper half becomes 0, or is a part of the constant.
            (Mov, OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64) => {
                constant(instruction.immediate(1), WHOLE)
            }
            _ => Effect::Other,
        }
    }

    fn memory(&self, instruction: &Instruction) -> Option<Place> {
        let plain = instruction.memory_index() == Register::None
            && !instruction.is_ip_rel_memory_operand()
            && instruction.segment_prefix() == Register::None;
        if !plain {
            return None;
        }
        let base = instruction.memory_base();
        let (register, moved) = match base {
            Register::RSP => (RSP, self.pushed?),
            _ => match self.held(base)? {
                Held {
                    place: Place::Register(register),
                    width: WHOLE,
                } => (register, 0),
                _ => return None,
            },
        };
        let displacement = instruction.memory_displacement64().cast_signed();
        Some(Place::Memory(register, displacement.checked_add(moved)?))
    }

    /// The contents of a register, if known.
    fn held(&self, register: Register) -> Option<Held> {
        let register = full(register);
        let mut known = self.known.iter().rev();
        if let Some((_, held)) = known.find(|(it, _)| *it == register) {
            return *held;
        }
        let number = match register {
            Register::RBX => 3,
            Register::RBP => 6,
            Register::R12 => 12,
            Register::R13 => 13,
            Register::R14 => 14,
            Register::R15 => 15,
            _ => return None,
        };
        is_preserved(number).then_some(Held {
            place: Place::Register(number),
            width: WHOLE,
        })
    }
}

/// The widest register that contains a register.
fn full(register: Register) -> Register {
    register.full_register()
}

#[cfg(test)]
mod tests {
    use super::ReturnRegister::{Rax, Xmm0};
    use super::*;

    fn check(code: &[u8], register: ReturnRegister, size: usize, expect: Option<Place>) {
        let slot = ReturnSlot { register, size };
        assert_eq!(
            place(code, 0x1000, 0x1000, slot),
            expect,
            "{code:x?} {size}"
        );
    }

    #[test]
    fn results_are_moved_from_where_calls_preserve_them() {
        let rbx = Some(Place::Register(3));
        // mov eax, ebx; pop rbx; ret
        check(&[0x89, 0xd8, 0x5b, 0xc3], Rax, 4, rbx);
        // pop rbx; mov eax, ebx; ret: that is the caller's
        check(&[0x5b, 0x89, 0xd8, 0xc3], Rax, 4, None);
        // mov rax, [rbp-8]; leave; ret
        let code = [0x48, 0x8b, 0x45, 0xf8, 0xc9, 0xc3];
        check(&code, Rax, 8, Some(Place::Memory(6, -8)));
        // leave; mov rax, [rsp+8]; ret
        check(&[0xc9, 0x48, 0x8b, 0x44, 0x24, 8, 0xc3], Rax, 8, None);
        // add rsp, 8; mov rax, [rsp+16]; ret
        let code = [0x48, 0x83, 0xc4, 8, 0x48, 0x8b, 0x44, 0x24, 16, 0xc3];
        check(&code, Rax, 8, Some(Place::Memory(7, 24)));
        // mov eax, 42; ret
        check(
            &[0xb8, 42, 0, 0, 0, 0xc3],
            Rax,
            8,
            Some(Place::Constant(42)),
        );
        // xor eax, eax; ret
        check(&[0x31, 0xc0, 0xc3], Rax, 8, Some(Place::Constant(0)));
        // movsd xmm0, [rsp+8]; add rsp, 24; ret
        let code = [0xf2, 0x0f, 0x10, 0x44, 0x24, 8, 0x48, 0x83, 0xc4, 24, 0xc3];
        check(&code, Xmm0, 8, Some(Place::Memory(7, 8)));
        // movq xmm0, rbx; pop rbx; ret
        check(&[0x66, 0x48, 0x0f, 0x6e, 0xc3, 0x5b, 0xc3], Xmm0, 8, rbx);
        // mov rax, rbx; movq xmm0, rax; mov rbx, [rbp-8]; leave; ret
        let code = [
            0x48, 0x89, 0xd8, 0x66, 0x48, 0x0f, 0x6e, 0xc0, 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3,
        ];
        check(&code, Xmm0, 8, rbx);
    }

    #[test]
    fn narrow_moves_say_nothing_of_what_is_wider() {
        // mov eax, ebx; ret: the upper half is not that of rbx
        check(&[0x89, 0xd8, 0xc3], Rax, 8, None);
        // movzx eax, bl; ret
        check(&[0x0f, 0xb6, 0xc3, 0xc3], Rax, 1, Some(Place::Register(3)));
        check(&[0x0f, 0xb6, 0xc3, 0xc3], Rax, 4, None);
        // mov al, bl; mov eax, eax; ret
        check(&[0x88, 0xd8, 0x89, 0xc0, 0xc3], Rax, 4, None);
        // movss xmm0, [rsp]; ret
        let code = [0xf3, 0x0f, 0x10, 0x04, 0x24, 0xc3];
        check(&code, Xmm0, 4, Some(Place::Memory(7, 0)));
        check(&code, Xmm0, 8, None);
    }

    #[test]
    fn what_is_computed_or_branched_to_is_not_known() {
        // mov eax, ebx; add eax, 1; ret
        check(&[0x89, 0xd8, 0x83, 0xc0, 1, 0xc3], Rax, 4, None);
        // mov eax, ebx; call 0; ret
        check(&[0x89, 0xd8, 0xe8, 0, 0, 0, 0, 0xc3], Rax, 4, None);
        // je +0; mov eax, ebx; ret
        check(&[0x74, 0, 0x89, 0xd8, 0xc3], Rax, 4, None);
        // ret
        check(&[0xc3], Rax, 4, None);
        // jmp over the end
        check(&[0xeb, 0x7f], Rax, 4, None);
    }
}
