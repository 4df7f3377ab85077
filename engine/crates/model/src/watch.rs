//! Long work that says how far it is, and that can be stopped.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

type Hear = dyn Fn(f64) -> ControlFlow<()> + Send + Sync;

/// Whoever hears how far some work is. Cheap to clone.
#[derive(Clone)]
pub struct Watch {
    hear: Option<Arc<Hear>>,
    /// The part of the whole that this work is.
    from: f64,
    to: f64,
}

/// The work is not wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl Watch {
    /// `hear` is told fractions of the work that are done, 0 to 1, from any thread; often, so it should be quick. When it
    /// breaks, the work stops soon.
    pub fn new(hear: impl Fn(f64) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Watch {
            hear: Some(Arc::new(hear)),
            from: 0.0,
            to: 1.0,
        }
    }

    /// Nobody: the work is never stopped.
    pub fn nobody() -> Self {
        Watch {
            hear: None,
            from: 0.0,
            to: 1.0,
        }
    }

    /// For the part of this work that is between these fractions of it.
    pub fn part(&self, from: f64, to: f64) -> Watch {
        let whole = self.to - self.from;
        Watch {
            hear: self.hear.clone(),
            from: self.from + from * whole,
            to: self.from + to * whole,
        }
    }

    /// Says that this fraction is done, 0 to 1.
    ///
    /// # Errors
    /// [`Stopped`], when the work is not wanted any more.
    pub fn at(&self, fraction: f64) -> Result<(), Stopped> {
        let Some(hear) = &self.hear else {
            return Ok(());
        };
        match hear(self.from + fraction.clamp(0.0, 1.0) * (self.to - self.from)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stopped),
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({}..{})", self.from, self.to)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Stopped {}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn parts_are_told_as_fractions_of_the_whole_until_it_stops() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&heard);
        let watch = Watch::new(move |fraction| {
            theirs.lock().unwrap().push(fraction);
            match fraction < 0.75 {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let second = watch.part(0.5, 1.0);
        assert_eq!(watch.at(0.25), Ok(()));
        assert_eq!(second.at(0.0), Ok(()));
        assert_eq!(second.part(0.0, 0.5).at(2.0), Err(Stopped));
        assert_eq!(*heard.lock().unwrap(), [0.25, 0.5, 0.75]);
        assert_eq!(Watch::nobody().at(1.0), Ok(()));
    }
}
