//! Programs whose flow is known: queues, a counter and an allocator.

use super::machine::{ARGUMENT, At, OTHER_ARGUMENT, Op, Program, R, STACK};

/// Registers by their numbers: `rax`, `rcx`, `rbx` and `r15`.
const A: R = 0;
const C: R = 1;
const B: R = 3;
const SELF: R = 15;

/// Where a shared structure is and what protects it.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    pub lock: u64,
    pub address: u64,
}

/// Apache's `ap_queue_push` (Figure 1): the arguments are on the stack, as a compiler without optimisation has them.
pub fn array_push(Shared { lock, address }: Shared) -> Program {
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

/// Apache's `ap_queue_pop` (Figure 1): both values go to the caller's stack, which uses them later. 0 when it is empty.
pub fn array_pop(Shared { lock, address }: Shared) -> Program {
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

/// `STAILQ_INSERT_TAIL` of `sys/queue.h` (§3.3.2). The node is the argument; `next` is its first word. The head has the
/// first node and, 8 bytes on, the address of the last `next`.
pub fn list_push(Shared { lock, address }: Shared) -> Program {
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

/// `STAILQ_REMOVE_HEAD`; 0 when the queue is empty. The head's address is in a register since before the lock, so the tail
/// of an emptied queue gets a value from before the section: what rule 5 is for.
pub fn list_pop(Shared { lock, address }: Shared) -> Program {
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

/// An array in which the latest element is moved to the front, as priority queues move elements (§3.2).
pub fn moving_push(Shared { lock, address }: Shared) -> Program {
    Program::new(
        0x5000,
        vec![
            Op::Constant(SELF, address),
            Op::Lock(lock),
            Op::Load(A, At(SELF, 8)),
            Op::Compute(A, 8, (address + 64) as i64),
            Op::Store(At(A, 0), ARGUMENT),
            Op::AddToMemory(At(SELF, 8), 1),
            // The element and the first one change places.
            Op::Load(B, At(SELF, 64)),
            Op::Load(C, At(A, 0)),
            Op::Store(At(A, 0), B),
            Op::Store(At(SELF, 64), C),
            Op::Unlock(lock),
            Op::Return(ARGUMENT),
        ],
    )
}

/// Takes the last element of that array; 0 when it is empty.
pub fn moving_pop(Shared { lock, address }: Shared) -> Program {
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

/// Counts something and uses the new number (Figure 2).
pub fn count(Shared { lock, address }: Shared) -> Program {
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

/// `mem_alloc` (Figure 3): takes the head of a list of free objects; 0 when there is none.
pub fn allocate(Shared { lock, address }: Shared) -> Program {
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

/// `mem_free` (Figure 3): the argument becomes the head of the list.
pub fn free(Shared { lock, address }: Shared) -> Program {
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
