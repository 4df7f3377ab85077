//! Java (Whodunit §4.2): what threads of a Java virtual machine pass to each other through executors, futures, queues and
//! virtual threads. None of this is visible through locks of the C library.
//!
//! When a program looks up the function that creates a virtual machine ([`linker`]), it gets a function of ours, which
//! creates the machine and makes a few methods of `java.util.concurrent` call us ([`machine`], [`points`]). A thread that
//! hands on a task tags the object with an item, as registrations with event libraries do ([`tags`]). The thread that runs
//! the task continues with that item ([`scopes`], [`task_records`]). A virtual thread takes its
//! work along from carrier to carrier ([`virtual_threads`]). Waits for monitors and locks get their names ([`lock_waits`]). No object of the program is wrapped or replaced, no option is
//! added, and nothing is printed.
//!
//! Java code calls these functions, and from it any thread may call functions of the C library. So they may allocate, but
//! not while the thread writes a record, because the machine's own locks are hooked.

mod interface;
mod linker;
mod lock_waits;
mod machine;
mod names;
mod natives;
mod points;
mod probe_class;
mod queues;
mod scopes;
mod tags;
mod task_records;
mod virtual_threads;

pub(crate) use linker::hooks;
pub(crate) use scopes::Tasks;
