//! Finds callers by the flat table that the engine derives from the call frame information (x86-64).
//!
//! Frame pointers are missing from most optimised code, and from the leaf functions of the rest.
//!
//! No allocation and no system calls: this runs in signal handlers and hooks of profiled programs, and in the engine on copies of
//! their stacks.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

use fulcrum_wire::{Unwind, base};

/// The registers of a thread that unwinding needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Instruction pointer.
    pub rip: u64,
    /// Stack pointer.
    pub rsp: u64,
    /// Frame base register, whether used as such or not.
    pub rbp: u64,
}

fn rule(rows: &[Unwind], address: u64) -> Option<&Unwind> {
    let after = rows.partition_point(|row| row.start <= address);
    rows[..after].last().filter(|row| row.base != base::END)
}

/// What the instruction pointer of a frame is.
#[derive(Clone, Copy)]
enum Pointer {
    /// The next instruction, in the innermost frame.
    Instruction,
    /// A return address, in all others.
    Return,
}

/// The caller's registers. `read` reads a word of the thread's stack.
fn caller(
    rows: &[Unwind],
    at: Registers,
    pointer: Pointer,
    read: &mut impl FnMut(u64) -> Option<u64>,
) -> Option<Registers> {
    // A call may be the last instruction of its function: look before the return address.
    let address = match pointer {
        Pointer::Instruction => at.rip,
        Pointer::Return => at.rip.checked_sub(1)?,
    };
    let rule = rule(rows, address)?;
    let cfa = match rule.base {
        base::RSP => at.rsp.wrapping_add_signed(i64::from(rule.cfa_offset)),
        base::RBP => at.rbp.wrapping_add_signed(i64::from(rule.cfa_offset)),
        base::PLT => at.rsp.wrapping_add(if at.rip & 15 >= 11 { 16 } else { 8 }),
        _ => return None,
    };
    // Stacks grow downwards: a caller's frame is above.
    if cfa <= at.rsp || !cfa.is_multiple_of(8) {
        return None;
    }
    let rip = read(cfa - 8)?;
    let rbp = match rule.rbp_offset {
        0 => at.rbp,
        offset => read(cfa.wrapping_add_signed(i64::from(offset)))?,
    };
    (rip != 0).then_some(Registers { rip, rsp: cfa, rbp })
}

/// Writes the addresses of the frames to `out`, innermost first: the instruction, then return addresses. Returns the number of
/// frames.
pub fn walk(
    rows: &[Unwind],
    start: Registers,
    mut read: impl FnMut(u64) -> Option<u64>,
    out: &mut [u64],
) -> usize {
    let mut at = start;
    let mut pointer = Pointer::Instruction;
    for (depth, slot) in out.iter_mut().enumerate() {
        *slot = at.rip;
        match caller(rows, at, pointer, &mut read) {
            Some(caller) => at = caller,
            None => return depth + 1,
        }
        pointer = Pointer::Return;
    }
    out.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const fn row(start: u64, base: u8, cfa_offset: i32, rbp_offset: i16) -> Unwind {
        Unwind {
            start,
            cfa_offset,
            rbp_offset,
            base,
            unused: 0,
        }
    }

    /// `leaf` without a frame, `middle` with one, `main` with neither; nothing is known outside them.
    const ROWS: [Unwind; 6] = [
        row(100, base::RSP, 8, 0),
        row(200, base::RSP, 8, 0),
        row(201, base::RSP, 16, -16),
        row(204, base::RBP, 16, -16),
        row(300, base::RSP, 32, 0),
        row(400, base::END, 0, 0),
    ];

    /// Memory from 1000 on: what `leaf` called from `middle` called from `main` leaves on the stack.
    const STACK: [u64; 9] = [250, 7, 7, 4444, 350, 7, 7, 7, 9];

    fn read(address: u64) -> Option<u64> {
        STACK
            .get((address.checked_sub(1000)? / 8) as usize)
            .copied()
    }

    fn walked(rows: &[Unwind], rip: u64, rbp: u64) -> Vec<u64> {
        let mut out = [0; 8];
        let start = Registers {
            rip,
            rsp: 1000,
            rbp,
        };
        let depth = walk(rows, start, read, &mut out);
        out[..depth].to_vec()
    }

    #[test]
    fn callers_are_found_with_and_without_frame_pointers() {
        // leaf at 1000: returns to 250 (middle), whose rbp is 1024, where main's rbp (4444) and 350 are saved.
        assert_eq!(walked(&ROWS, 150, 1024), [150, 250, 350, 9]);
    }

    #[test]
    fn the_walk_ends_where_nothing_is_known() {
        assert_eq!(walked(&ROWS, 450, 1024), [450]);
        assert_eq!(walked(&ROWS, 50, 1024), [50]);
        assert_eq!(walked(&[], 150, 1024), [150]);
    }

    #[test]
    fn a_return_address_after_the_last_instruction_belongs_to_the_caller_before() {
        let rows = [
            row(100, base::RSP, 8, 0),
            row(200, base::RSP, 16, 0),
            row(250, base::END, 0, 0),
        ];
        assert_eq!(walked(&rows, 100, 0)[..2], [100, 250]);
        assert_eq!(walked(&rows, 100, 0).len(), 3);
    }

    #[test]
    fn garbage_neither_loops_nor_overflows() {
        for rbp in [0, 8, 1000, u64::MAX - 7, u64::MAX] {
            let deep = walked(&[row(0, base::RBP, -8, 0)], 5, rbp);
            assert!(deep.len() <= 8, "{deep:?}");
        }
        let up = [row(0, base::RSP, i32::MAX, 0)];
        assert_eq!(walked(&up, 5, 0), [5]);
        let same = [row(0, base::RSP, 0, 0)];
        assert_eq!(walked(&same, 5, 0), [5]);
    }
}
