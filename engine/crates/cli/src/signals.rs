//! Signals while a program is profiled.
//!
//! Ctrl-C reaches the whole foreground group. The first one is for the program to handle, and the result is still shown. A
//! second one stops the program, and so does a request to end that only we receive. The first one suffices when only processes
//! that the program left in the background are running.

use fulcrum_recorder::Remote;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Watches for signals from now on, and stops the program when they ask for it.
pub(crate) fn watch() -> Remote {
    watch_for(2)
}

/// The same for programs in a process group of their own: the first Ctrl-C stops them.
pub(crate) fn watch_first() -> Remote {
    watch_for(1)
}

fn watch_for(interrupts_to_stop: usize) -> Remote {
    let remote = Remote::default();
    // A signal that is ignored (nohup, a background job) stays ignored: the program inherits that.
    let watched: Vec<i32> = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&s| !is_ignored(s))
        .collect();
    let Ok(mut signals) = Signals::new(watched) else {
        return remote;
    };
    let stopper = remote.clone();
    std::thread::spawn(move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            interrupts += usize::from(signal == SIGINT);
            let ours = signal == SIGINT && stopper.is_in_background();
            if matches!(signal, SIGTERM | SIGHUP) || interrupts >= interrupts_to_stop || ours {
                stopper.cancel();
            }
        }
    });
    remote
}

/// From this process's `SigIgn` mask.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
