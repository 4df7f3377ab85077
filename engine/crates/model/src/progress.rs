//! Progress and cancellation of long work.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Receives the progress of some work.
pub trait ProgressListener: Send + Sync {
    /// The work is in this phase, and this fraction of it is done, 0 to 1. Called often, from any thread, and one call at a
    /// time, so it must be quick. The fraction never falls.
    fn progress(&self, phase: &str, fraction: f64);
}

impl<F: Fn(&str, f64) + Send + Sync> ProgressListener for F {
    fn progress(&self, phase: &str, fraction: f64) {
        self(phase, fraction);
    }
}

/// A token that every long operation takes, to report its progress and to ask whether it was cancelled. Clones, parts and phases
/// of a token are cancelled together. The default token has no listener.
#[derive(Clone)]
pub struct Progress {
    cancelled: Arc<AtomicBool>,
    /// What else cancels it.
    outer: Vec<Arc<AtomicBool>>,
    listening: Option<Arc<Listening>>,
    phase: Arc<str>,
    /// The part of the whole that this work is.
    from: f64,
    to: f64,
}

struct Listening {
    listener: Box<dyn ProgressListener>,
    /// The largest fraction that was reported: work that starts over does not go back.
    reached: Mutex<f64>,
}

/// The error of work that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Progress {
    /// A token with a listener.
    pub fn new(listener: impl ProgressListener + 'static) -> Progress {
        Progress::default().with_listener(listener)
    }

    /// A token for other work, which is cancelled together with this token. Its listener receives all of that work's progress.
    pub fn with_listener(&self, listener: impl ProgressListener + 'static) -> Progress {
        let listening = Listening {
            listener: Box::new(listener),
            reached: Mutex::new(0.0),
        };
        Progress {
            listening: Some(Arc::new(listening)),
            from: 0.0,
            to: 1.0,
            ..self.clone()
        }
    }

    /// A token that `outer` cancels too. Cancelling it leaves `outer` alone.
    pub fn within(&self, outer: &Progress) -> Progress {
        let mut inner = self.clone();
        inner.outer.push(Arc::clone(&outer.cancelled));
        inner.outer.extend(outer.outer.iter().cloned());
        inner
    }

    /// The same work in another phase.
    pub fn with_phase(&self, phase: &str) -> Progress {
        Progress {
            phase: phase.into(),
            ..self.clone()
        }
    }

    /// The part of this work between two fractions of it.
    pub fn part(&self, from: f64, to: f64) -> Progress {
        let whole = self.to - self.from;
        Progress {
            from: self.from + from * whole,
            to: self.from + to * whole,
            ..self.clone()
        }
    }

    /// Cancels the work. It ends soon, with [`Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        let set = |it: &Arc<AtomicBool>| it.load(Ordering::Acquire);
        set(&self.cancelled) || self.outer.iter().any(set)
    }

    /// Fails if the work was cancelled.
    ///
    /// # Errors
    /// [`Cancelled`] when it was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.is_cancelled() {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Reports that this fraction of the work is done, 0 to 1.
    ///
    /// # Errors
    /// [`Cancelled`] when the work was cancelled.
    pub fn at(&self, fraction: f64) -> Result<(), Cancelled> {
        self.check()?;
        if let Some(listening) = &self.listening {
            let fraction = self.from + fraction.clamp(0.0, 1.0) * (self.to - self.from);
            listening.report(&self.phase, fraction);
            // The listener may have cancelled it.
            self.check()?;
        }
        Ok(())
    }
}

impl Listening {
    fn report(&self, phase: &str, fraction: f64) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        *reached = reached.max(fraction);
        self.listener.progress(phase, *reached);
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            cancelled: Arc::default(),
            outer: Vec::new(),
            listening: None,
            phase: Arc::from(""),
            from: 0.0,
            to: 1.0,
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("cancelled", &self.is_cancelled())
            .field("phase", &self.phase)
            .field("part", &(self.from..self.to))
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

#[cfg(test)]
mod tests {
    use super::*;

    type Heard = Arc<Mutex<Vec<(String, f64)>>>;

    fn listened() -> (Progress, Heard) {
        let heard = Heard::default();
        let theirs = Arc::clone(&heard);
        let progress = Progress::new(move |phase: &str, fraction: f64| {
            theirs.lock().unwrap().push((phase.to_owned(), fraction));
        });
        (progress, heard)
    }

    #[test]
    fn parts_report_fractions_of_the_whole_and_the_phase() {
        let (progress, heard) = listened();
        let second = progress.part(0.5, 1.0).with_phase("second");
        assert_eq!(progress.at(0.25), Ok(()));
        assert_eq!(second.at(0.0), Ok(()));
        assert_eq!(second.part(0.0, 0.5).at(2.0), Ok(()));
        let expect = [("", 0.25), ("second", 0.5), ("second", 0.75)];
        assert_eq!(
            *heard.lock().unwrap(),
            expect.map(|(phase, fraction)| (phase.to_owned(), fraction))
        );
    }

    #[test]
    fn work_that_starts_over_does_not_go_back() {
        let (progress, heard) = listened();
        for fraction in [0.0, 0.6, 0.1, 0.7] {
            progress.at(fraction).unwrap();
        }
        let fractions: Vec<f64> = heard.lock().unwrap().iter().map(|it| it.1).collect();
        assert_eq!(fractions, [0.0, 0.6, 0.6, 0.7]);
    }

    #[test]
    fn clones_and_parts_are_cancelled_together_and_then_report_nothing() {
        let (progress, heard) = listened();
        let part = progress.part(0.0, 0.5).with_phase("x");
        let other = progress.with_listener(|_: &str, _: f64| panic!("it is cancelled"));
        progress.clone().cancel();
        for token in [&progress, &part, &other] {
            assert!(token.is_cancelled());
            assert_eq!(
                (token.check(), token.at(0.3)),
                (Err(Cancelled), Err(Cancelled))
            );
        }
        assert!(heard.lock().unwrap().is_empty());
        assert_eq!(Progress::default().at(1.0), Ok(()));
    }

    #[test]
    fn outer_work_cancels_inner_work_alone() {
        let (outer, request) = (Progress::default(), Progress::default());
        let inner = request.within(&outer);
        inner.cancel();
        assert!(request.is_cancelled() && !outer.is_cancelled());
        let next = Progress::default().within(&outer);
        outer.cancel();
        assert!(next.part(0.0, 0.5).is_cancelled());
    }

    #[test]
    fn a_listener_may_cancel_what_it_hears_of() {
        let token = Progress::default();
        let handle = token.clone();
        let progress = token.with_listener(move |_: &str, _: f64| handle.cancel());
        assert_eq!(progress.at(0.5), Err(Cancelled));
    }
}
