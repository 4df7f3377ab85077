//! A causal run: starts a program under the runtime, answers its processes, follows the results, and completes the run.

mod continuation;
mod control;
mod diagnosis;
mod end_to_end;
mod first_verdict;
mod members;
mod periodic;
mod process;
mod section;
mod session;
mod status;

pub use session::record;
