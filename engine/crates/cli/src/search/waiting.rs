//! The progress line of long work, on a terminal's standard error. Ctrl-C ends the command, as always.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fulcrum_model::Progress;

use crate::terminal::Style;

/// Shorter work gets no line.
const FIRST_DRAW: Duration = Duration::from_millis(300);

/// The shortest time between two drawings of the line.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);

/// A progress line, which is removed when this is dropped.
pub(crate) struct Waiting(Arc<Mutex<Line>>);

struct Line {
    style: Style,
    next: Instant,
    drawn: bool,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Waiting(Arc::new(Mutex::new(Line {
            style: Style::stderr(),
            next: Instant::now() + FIRST_DRAW,
            drawn: false,
        })))
    }

    /// The progress token of the work, which draws the line.
    pub(crate) fn progress(&self) -> Progress {
        let line = Arc::clone(&self.0);
        match io::stderr().is_terminal() {
            true => Progress::new(move |phase: &str, fraction: f64| {
                let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
                line.show(phase, fraction);
            }),
            false => Progress::default(),
        }
    }
}

impl Line {
    fn show(&mut self, what: &str, part: f64) {
        let now = Instant::now();
        if now >= self.next {
            let text = describe(self.style, what, part);
            let mut err = io::stderr().lock();
            // The reader may be gone.
            let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
            self.drawn = true;
            self.next = now + DRAW_INTERVAL;
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.drawn {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}

/// `reading x.folded · 42 %`.
fn describe(style: Style, what: &str, part: f64) -> String {
    format!("{what}{}{:.0} %", style.dot(), part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_phase_and_its_progress() {
        let style = Style {
            colour: false,
            unicode: true,
            terminal: true,
        };
        let line = describe(style, "reading x.folded", 0.424);
        assert_eq!(line, format!("reading x.folded{}42 %", style.dot()));
    }
}
