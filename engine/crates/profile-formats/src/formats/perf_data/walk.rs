//! Unwinds a thread from its registers and a copy of its stack (`--call-graph dwarf`).

use super::events::Address;
use super::maps::{Place, Processes};
use crate::collect::symbols::{At, Caller, Registers, Symbols};

const FRAME_POINTER: usize = 6;
const STACK_POINTER: usize = 7;
const INSTRUCTION: usize = 16;

/// The most frames of a stack: a copy has at most 64 KiB, and a frame at least 8 bytes.
const MAX_FRAMES: usize = 8192;

/// How unwinding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At the thread's first frame.
    Outermost,
    /// At the end of the copy.
    Short,
    /// In code whose caller is unknown.
    Unknown,
}

/// The addresses of a thread's frames in user mode, innermost first. `copy` begins at the stack pointer. Returns `None` without
/// registers.
pub(crate) fn walk(
    registers: &Registers,
    copy: &[u8],
    pid: u32,
    processes: &Processes,
    symbols: &dyn Symbols,
) -> Option<(Vec<Address>, End)> {
    let bottom = registers[STACK_POINTER]?;
    registers[INSTRUCTION]?;
    let read = |address: u64| {
        let at = usize::try_from(address.checked_sub(bottom)?).ok()?;
        let word = copy.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    };
    let mut frame = *registers;
    // A return address is that of the next instruction, which may belong to another function.
    let mut back = 0;
    let mut chain = Vec::new();
    while let Some(address) = frame[INSTRUCTION].and_then(|it| it.checked_sub(back)) {
        let address = Address::user(address);
        chain.push(address);
        let caller = match processes.place(pid, address) {
            Place::File { file, offset } => {
                let file = processes.file(file);
                let file = (&*file.name, file.build_id());
                symbols.caller(file, At::Byte(offset), &frame, &read)
            }
            Place::Kernel | Place::Unknown => Caller::Unknown,
        };
        let (next, interrupted) = match caller {
            Caller::Frame {
                registers,
                interrupted,
            } => (registers, interrupted),
            Caller::Outermost => return Some((chain, End::Outermost)),
            Caller::Lost => return Some((chain, End::Short)),
            Caller::Unknown => match by_frame_pointer(&frame, &read) {
                Some(next) if known(processes, pid, &next) => (next, false),
                _ => return Some((chain, End::Unknown)),
            },
        };
        // Stacks grow downwards, so a caller's frame is above.
        if next[STACK_POINTER] <= frame[STACK_POINTER] || chain.len() >= MAX_FRAMES {
            return Some((chain, End::Unknown));
        }
        frame = next;
        back = u64::from(!interrupted);
    }
    Some((chain, End::Outermost))
}

/// The caller of code with frame pointers, which most JIT compilers keep.
fn by_frame_pointer(frame: &Registers, read: &dyn Fn(u64) -> Option<u64>) -> Option<Registers> {
    let base = frame[FRAME_POINTER]?;
    if base < frame[STACK_POINTER]? {
        return None;
    }
    let mut caller = *frame;
    caller[FRAME_POINTER] = Some(read(base)?);
    caller[INSTRUCTION] = Some(read(base.checked_add(8)?)?);
    caller[STACK_POINTER] = Some(base.checked_add(16)?);
    Some(caller)
}

/// Whether a frame is in code. The frame pointer's register may contain any number.
fn known(processes: &Processes, pid: u32, frame: &Registers) -> bool {
    let address = frame[INSTRUCTION].and_then(|it| it.checked_sub(1));
    address.is_some_and(|it| {
        let place = processes.place(pid, Address::user(it));
        matches!(place, Place::File { .. })
    })
}
