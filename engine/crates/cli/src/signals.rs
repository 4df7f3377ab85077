//! Signals while a program is profiled.
//!
//! Ctrl-C reaches the whole foreground group: the first one is the program's own affair, and its result is still shown.
//! A second one, or a request to end that only we get, stops the program. So does the first one when only what the program left
//! in the background is there.

use fulcrum_recorder::Remote;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Watches from now on; the program is stopped when it should be.
pub fn watch() -> Remote {
    watch_for(2)
}

/// The same for programs that run in a group of their own: the first Ctrl-C is ours already.
pub fn watch_first() -> Remote {
    watch_for(1)
}

fn watch_for(enough: usize) -> Remote {
    let remote = Remote::default();
    // A signal that is ignored (nohup, a background job) stays ignored: the program inherits that.
    let wanted: Vec<i32> = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&s| !is_ignored(s))
        .collect();
    let Ok(mut signals) = Signals::new(wanted) else {
        return remote;
    };
    let stopper = remote.clone();
    std::thread::spawn(move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            interrupts += usize::from(signal == SIGINT);
            let ours = signal == SIGINT && stopper.is_in_background();
            if matches!(signal, SIGTERM | SIGHUP) || interrupts >= enough || ours {
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
