//! Evaluates seccomp filters (seccomp(2)) before the kernel gets them: a program may be about to forbid system calls of ours, and
//! would be killed for them.
//!
//! By hand, because no library evaluates classic BPF: `rbpf` runs eBPF, and `seccompiler` only makes filters.

/// `struct sock_filter`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What to do.
    pub code: u16,
    /// Instructions to skip when a condition holds.
    pub jump_true: u8,
    /// Instructions to skip when it does not.
    pub jump_false: u8,
    /// The operand.
    pub operand: u32,
}

/// A system call that we will make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number on x86-64.
    pub number: u32,
    /// Its arguments, as far as a filter may check them; otherwise 0.
    pub arguments: [u64; 6],
}

/// The longest filter that the kernel accepts, instructions.
pub const LONGEST: usize = 4096;

const ARCHITECTURE: u32 = 0xc000_003e;
const SCRATCH: usize = 16;
/// Length of `struct seccomp_data`, bytes.
const DATA: u32 = 64;

const ACTION: u32 = 0xffff_0000;
const ALLOW: u32 = 0x7fff_0000;
const LOG: u32 = 0x7ffc_0000;
const ERRNO: u32 = 0x0005_0000;

/// What a filter does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call is made.
    Allowed,
    /// The call is not made, and returns an error.
    Fails,
    /// It ends the thread or the process, raises a signal, or is left to another process.
    Forbidden,
}

/// What `filter` does with `call`. A filter that the kernel would not accept forbids everything.
pub fn verdict(filter: &[Instruction], call: &Call) -> Verdict {
    match returned(filter, call).map(|value| value & ACTION) {
        Some(ALLOW | LOG) => Verdict::Allowed,
        Some(ERRNO) => Verdict::Fails,
        _ => Verdict::Forbidden,
    }
}

/// A 32-bit word of `struct seccomp_data`.
fn word(call: &Call, at: u32) -> Option<u32> {
    if !at.is_multiple_of(4) || at >= DATA {
        return None;
    }
    Some(match at {
        0 => call.number,
        4 => ARCHITECTURE,
        // Where the call is made from.
        8 | 12 => 0,
        _ => {
            let argument = call.arguments[(at as usize - 16) / 8];
            if at.is_multiple_of(8) {
                argument as u32
            } else {
                (argument >> 32) as u32
            }
        }
    })
}

/// Runs a filter: classic BPF without packets. Jumps only go forward, so it ends. `None` if it is broken.
fn returned(filter: &[Instruction], call: &Call) -> Option<u32> {
    let (mut a, mut x) = (0_u32, 0_u32);
    let mut scratch = [0_u32; SCRATCH];
    let mut at = 0_usize;
    loop {
        let it = filter.get(at)?;
        at += 1;
        let operand = it.operand;
        let slot = operand as usize;
        match it.code {
            0x20 => a = word(call, operand)?,
            0x00 => a = operand,
            0x01 => x = operand,
            0x60 => a = *scratch.get(slot)?,
            0x61 => x = *scratch.get(slot)?,
            0x80 => a = DATA,
            0x81 => x = DATA,
            0x02 => *scratch.get_mut(slot)? = a,
            0x03 => *scratch.get_mut(slot)? = x,
            0x07 => x = a,
            0x87 => a = x,
            0x06 => return Some(operand),
            0x16 => return Some(a),
            0x05 => at = at.checked_add(slot)?,
            code if code & 7 == 4 => a = computed(code, a, operand_of(code, operand, x))?,
            code if code & 7 == 5 => {
                let holds = compared(code, a, operand_of(code, operand, x))?;
                at += usize::from(if holds { it.jump_true } else { it.jump_false });
            }
            _ => return None,
        }
    }
}

fn operand_of(code: u16, operand: u32, x: u32) -> u32 {
    if code & 8 == 0 { operand } else { x }
}

fn computed(code: u16, a: u32, by: u32) -> Option<u32> {
    Some(match code & !8 {
        0x04 => a.wrapping_add(by),
        0x14 => a.wrapping_sub(by),
        0x24 => a.wrapping_mul(by),
        0x34 => a.checked_div(by)?,
        0x44 => a | by,
        0x54 => a & by,
        0x64 => a.checked_shl(by).unwrap_or(0),
        0x74 => a.checked_shr(by).unwrap_or(0),
        0x84 => a.wrapping_neg(),
        0xa4 => a ^ by,
        _ => return None,
    })
}

fn compared(code: u16, a: u32, with: u32) -> Option<bool> {
    Some(match code & !8 {
        0x15 => a == with,
        0x25 => a > with,
        0x35 => a >= with,
        0x45 => a & with != 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILL: u32 = 0x8000_0000;

    fn step(code: u16, operand: u32, jump_true: u8, jump_false: u8) -> Instruction {
        Instruction {
            code,
            jump_true,
            jump_false,
            operand,
        }
    }

    fn call(number: u32, first: u64) -> Call {
        Call {
            number,
            arguments: [first, 0, 0, 0, 0, 0],
        }
    }

    /// As most filters begin: another architecture is killed; then one number by one rule.
    fn filter(rule: &[Instruction]) -> [Instruction; 8] {
        let mut all = [step(0x06, KILL, 0, 0); 8];
        all[..3].copy_from_slice(&[
            step(0x20, 4, 0, 0),
            step(0x15, ARCHITECTURE, 1, 0),
            step(0x06, KILL, 0, 0),
        ]);
        all[3..3 + rule.len()].copy_from_slice(rule);
        all
    }

    #[test]
    fn a_list_of_allowed_calls_kills_the_others() {
        let list = filter(&[
            step(0x20, 0, 0, 0),
            step(0x15, 202, 0, 1),
            step(0x06, ALLOW, 0, 0),
        ]);
        assert_eq!(verdict(&list, &call(202, 0)), Verdict::Allowed);
        assert_eq!(verdict(&list, &call(298, 0)), Verdict::Forbidden);
    }

    #[test]
    fn arguments_decide_and_errors_are_no_end() {
        // prctl with an option above 40 fails with EPERM, in both halves of the argument.
        let rules = [
            step(0x20, 20, 0, 0),
            step(0x15, 0, 0, 2),
            step(0x20, 16, 0, 0),
            step(0x25, 40, 0, 1),
            step(0x06, ERRNO | 1, 0, 0),
            step(0x06, ALLOW, 0, 0),
        ];
        assert_eq!(verdict(&rules, &call(157, 41)), Verdict::Fails);
        assert_eq!(verdict(&rules, &call(157, 1 << 32)), Verdict::Fails);
        assert_eq!(verdict(&rules, &call(157, 15)), Verdict::Allowed);
    }

    #[test]
    fn registers_and_scratch_memory_compute() {
        // (number + 5) & 0xff, by way of memory and the index register.
        let rules = [
            step(0x20, 0, 0, 0),
            step(0x04, 5, 0, 0),
            step(0x02, 3, 0, 0),
            step(0x01, 0xff, 0, 0),
            step(0x60, 3, 0, 0),
            step(0x5c, 0, 0, 0),
            step(0x15, 7, 0, 1),
            step(0x06, LOG, 0, 0),
            step(0x06, KILL, 0, 0),
        ];
        assert_eq!(verdict(&rules, &call(0x102, 0)), Verdict::Allowed);
        assert_eq!(verdict(&rules, &call(3, 0)), Verdict::Forbidden);
    }

    #[test]
    fn what_is_no_filter_forbids_and_ends() {
        for broken in [
            &[][..],
            &[step(0x20, 64, 0, 0), step(0x06, ALLOW, 0, 0)],
            &[step(0x05, u32::MAX, 0, 0), step(0x06, ALLOW, 0, 0)],
            &[step(0x34, 0, 0, 0), step(0x06, ALLOW, 0, 0)],
            &[step(0x61, 16, 0, 0), step(0x06, ALLOW, 0, 0)],
            &[step(0x15, 0, 9, 9), step(0x06, ALLOW, 0, 0)],
            &[step(0xff, 0, 0, 0), step(0x06, ALLOW, 0, 0)],
        ] {
            assert_eq!(verdict(broken, &call(1, 0)), Verdict::Forbidden);
        }
    }
}
