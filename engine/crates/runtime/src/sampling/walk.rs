//! Call stacks: found with the engine's unwind table, or by frame pointers.

use fulcrum_preload::sys;
use fulcrum_unwind::{self as unwind, Registers};

use crate::process::control;
use crate::sampling::stack::Stack;
use crate::sys::allowed::{self, Purpose};

/// The most frames of a stack.
pub(crate) const DEEPEST_WALK: usize = 96;

/// Writes the instruction of a thread with this stack and its return addresses to `out`, innermost first. Returns how many.
/// Uses the engine's unwind table, or frame pointers as long as there is none.
pub(crate) fn walk(stack: Stack, at: Registers, out: &mut [u64]) -> usize {
    let rows = control::unwind_rows();
    // On the thread's own stack, what lies above the stack pointer is mapped. Elsewhere (alternate stacks, coroutines)
    // the kernel checks each address.
    let own = stack.low <= at.rsp && at.rsp < stack.high;
    let read = |address: u64| {
        if own && at.rsp <= address && address < stack.high && address.is_multiple_of(8) {
            // SAFETY: between the stack pointer and the top of the thread's own stack, aligned.
            Some(unsafe { (address as *const u64).read_volatile() })
        } else {
            read_checked(address)
        }
    };
    if !rows.is_empty() {
        return unwind::walk(rows, at, read, out);
    }
    let Some(first) = out.first_mut() else {
        return 0;
    };
    *first = at.rip;
    1 + frame_pointers(at.rbp, read, &mut out[1..])
}

fn frame_pointers(mut frame: u64, read: impl Fn(u64) -> Option<u64>, out: &mut [u64]) -> usize {
    let mut count = 0;
    while count < out.len() && frame != 0 && frame.is_multiple_of(8) {
        let (Some(next), Some(address)) = (read(frame), read(frame.wrapping_add(8))) else {
            break;
        };
        if address == 0 {
            break;
        }
        out[count] = address;
        count += 1;
        if next <= frame {
            break;
        }
        frame = next;
    }
    count
}

/// Reads a word through the kernel, because the address may not be mapped.
fn read_checked(address: u64) -> Option<u64> {
    if !allowed::may(Purpose::Memory) {
        return None;
    }
    let mut word = 0_u64;
    let local = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: 8,
    };
    let remote = libc::iovec {
        iov_base: address as *mut _,
        iov_len: 8,
    };
    // SAFETY: the kernel checks the remote address and writes 8 bytes to `word` at most.
    let read = unsafe {
        let pid = sys::process_id() as usize;
        let (local, remote) = (&raw const local as usize, &raw const remote as usize);
        sys::call(libc::SYS_process_vm_readv, [pid, local, 1, remote, 1, 0])
    };
    (read == 8).then_some(word)
}
