//! `exec`: the process becomes another program, which gets a log of its own.

use core::ffi::{c_char, c_int};

use fulcrum_wire::transactions::state;

use super::exits;
use crate::log;

/// Runs `exec`. If it returns, it has failed, and the log continues.
pub(crate) fn executed<T>(exec: impl FnOnce() -> T) -> T {
    if !exits::is_own_process() {
        return exec();
    }
    log::end(state::EXECUTED);
    let result = exec();
    log::reopen(state::EXECUTED);
    result
}

fulcrum_preload::exec_hooks!(executed);
