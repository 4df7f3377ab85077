//! Programs with known flow: queues, a counter and an allocator.

use super::machine::{ARGUMENT, At, OTHER_ARGUMENT, Op, Program, R, STACK};

/// Registers by their numbers: `rax`, `rcx`, `rbx` and `r15`.
const A: R = 0;
const C: R = 1;
const B: R = 3;
const SELF: R = 15;

/// The address of a shared structure, and the lock that protects it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub lock: u64,
    pub address: u64,
}

/// Apache's `ap_queue_push` (Figure 1). Its arguments are on the stack, as in unoptimised code.
pub(crate) fn array_push(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x1000,
        vec![
            Op::Constant(SELF, address),
            Op::Store(At(STACK, -8), ARGUMENT),
            Op::Store(At(STACK, -16), OTHER_ARGUMENT),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 8)),
            Op::Compute(A, 16, (address + 64) as i64),
            Op::Load(C, At(STACK, -8)),
            Op::Store(At(A, 0), C),
            Op::Load(C, At(STACK, -16)),
            Op::Store(At(A, 8), C),
            Op::AddToMemory(At(SELF, 8), 1),
            Op::Unlock(lock),
            Op::Use(C),
            Op::Return(ARGUMENT),
        ],
    )
}

/// Apache's `ap_queue_pop` (Figure 1). Both values go to the caller's stack, which uses them later. The result is 0 if the
/// queue is empty.
pub(crate) fn array_pop(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x2000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 8)),
            Op::JumpIfZero(A, 16),
            Op::AddToMemory(At(SELF, 8), -1),
            Op::Load(A, At(SELF, 8)),
            Op::Compute(A, 16, (address + 64) as i64),
            Op::Load(C, At(A, 0)),
            Op::Store(At(STACK, -8), C),
            Op::Load(C, At(A, 8)),
            Op::Store(At(STACK, -16), C),
            Op::Unlock(lock),
            Op::Load(6, At(STACK, -16)),
            Op::Load(7, At(STACK, -8)),
            Op::Use(7),
            Op::Return(7),
            Op::Unlock(lock),
            Op::Use(A),
            Op::Return(A),
        ],
    )
}

/// `STAILQ_INSERT_TAIL` of `sys/queue.h` (§3.3.2). The argument is the node, whose first word is `next`. The head holds the
/// first node and, 8 bytes further, the address of the last `next`.
pub(crate) fn list_push(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x3000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::StoreConstant(At(ARGUMENT, 0), 0),
            Op::Load(A, At(SELF, 8)),
            Op::Store(At(A, 0), ARGUMENT),
            // The address of the node's `next`.
            Op::Copy(C, ARGUMENT),
            Op::Compute(C, 1, 0),
            Op::Store(At(SELF, 8), C),
            Op::Unlock(lock),
            Op::Use(A),
            Op::Return(ARGUMENT),
        ],
    )
}

/// `STAILQ_REMOVE_HEAD`, or 0 if the queue is empty. The head's address was loaded into a register before the lock was
/// taken, so the tail of an emptied queue gets a value from before the section, as in rule 5.
pub(crate) fn list_pop(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x4000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(B, At(SELF, 0)),
            Op::JumpIfZero(B, 7),
            Op::Load(A, At(B, 0)),
            Op::Store(At(SELF, 0), A),
            Op::JumpIfZero(A, 10),
            Op::Unlock(lock),
            Op::Use(B),
            Op::Return(B),
            Op::Store(At(SELF, 8), SELF),
            Op::Jump(7),
        ],
    )
}

/// An array whose latest element is moved to the front, as in priority queues (§3.2).
pub(crate) fn moving_push(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x5000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 8)),
            Op::Compute(A, 8, (address + 64) as i64),
            Op::Store(At(A, 0), ARGUMENT),
            Op::AddToMemory(At(SELF, 8), 1),
            // Swaps the element with the first one.
            Op::Load(B, At(SELF, 64)),
            Op::Load(C, At(A, 0)),
            Op::Store(At(A, 0), B),
            Op::Store(At(SELF, 64), C),
            Op::Unlock(lock),
            Op::Return(ARGUMENT),
        ],
    )
}

/// Takes the last element of that array, or 0 if it is empty.
pub(crate) fn moving_pop(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x6000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 8)),
            Op::JumpIfZero(A, 9),
            Op::AddToMemory(At(SELF, 8), -1),
            Op::Load(A, At(SELF, 8)),
            Op::Compute(A, 8, (address + 64) as i64),
            Op::Load(B, At(A, 0)),
            Op::Copy(A, B),
            Op::Unlock(lock),
            Op::Use(A),
            Op::Return(A),
        ],
    )
}

/// Increments a counter and uses the new number (Figure 2).
pub(crate) fn count(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x7000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::AddToMemory(At(SELF, 0), 1),
            Op::Load(A, At(SELF, 0)),
            Op::Unlock(lock),
            Op::Use(A),
            Op::Return(A),
        ],
    )
}

/// `mem_alloc` (Figure 3): takes the head of a free list, or 0 if it is empty.
pub(crate) fn allocate(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x8000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(B, At(SELF, 0)),
            Op::JumpIfZero(B, 6),
            Op::Load(A, At(B, 0)),
            Op::Store(At(SELF, 0), A),
            Op::Unlock(lock),
            Op::Use(B),
            Op::Return(B),
        ],
    )
}

/// `mem_free` (Figure 3): makes the argument the head of the list.
pub(crate) fn free(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x9000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 0)),
            Op::Store(At(ARGUMENT, 0), A),
            Op::Store(At(SELF, 0), ARGUMENT),
            Op::Unlock(lock),
            Op::Return(ARGUMENT),
        ],
    )
}
