//! The exits of a process, at which the log ends in an orderly way.

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{state, word};

use crate::{active, log};

/// Whether the log belongs to this process. A child made by `vfork` or `clone` may share its memory and must not touch the
/// log.
pub(crate) fn is_own_process() -> bool {
    active::is_active()
        && log::header(word::PID).load(core::sync::atomic::Ordering::Relaxed)
            == u64::from(sys::process_id())
}

/// The process is about to end.
pub(crate) fn leave() {
    if is_own_process() {
        log::end(state::ENDED);
    }
}

fulcrum_preload::exit_hooks!(leave);
