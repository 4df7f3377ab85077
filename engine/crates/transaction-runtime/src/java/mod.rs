//! Java (Whodunit §4.2): what threads of a Java virtual machine hand each other through executors, futures, queues and virtual
//! threads, in which no lock of the C library can be seen.
//!
//! When a program looks up how to make a virtual machine ([`linker`]), it is given a function of ours, which makes the machine
//! and then lets a few methods of `java.util.concurrent` call us ([`machine`], [`points`]). Whoever hands a task on tags the
//! object with an item, as event libraries' registrations do ([`tags`]); whoever does the task goes on with that ([`scopes`], [`telling`]). A
//! virtual thread takes what it does along from carrier to carrier ([`virtual_threads`]). No object of the program's is wrapped
//! or replaced, no option is added, and nothing is printed.
//!
//! What is done here is called by Java code, from which any thread may call functions of the C library: so it may allocate,
//! but not while the thread is in our code for a record, since the machine's own locks are hooked.

mod interface;
mod linker;
mod machine;
mod names;
mod natives;
mod points;
mod probe_class;
mod queues;
mod scopes;
mod tags;
mod telling;
mod virtual_threads;

pub(crate) use linker::hooks;
pub(crate) use scopes::Tasks;
