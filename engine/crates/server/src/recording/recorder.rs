//! The interface between the server and what runs programs.

use fulcrum_recorder::{
    Error, Options, Recorded, RefineOptions, Remote, RunStatus, TraceOptions, TraceProgress,
    TransactionOptions, TransactionProgress,
};

use crate::protocol::{RefineLiveParams, RefineOutcome};
use crate::recording::refine;

/// Runs programs and records what they do. The default implementations really run them. Each function returns when the program
/// has ended.
pub trait Recorder: Send + Sync {
    /// A causal run.
    fn record(
        &self,
        options: &Options,
        remote: &Remote,
        report: &mut dyn FnMut(&RunStatus),
    ) -> Result<Recorded, Error> {
        fulcrum_recorder::record(options, remote, report)
    }

    /// An event trace.
    fn trace(
        &self,
        options: &TraceOptions,
        remote: &Remote,
        report: &mut dyn FnMut(&TraceProgress),
    ) -> Result<Recorded, Error> {
        fulcrum_recorder::trace(options, remote, report)
    }

    /// The transactions of a tree of processes.
    fn transactions(
        &self,
        options: &TransactionOptions,
        remote: &Remote,
        report: &mut dyn FnMut(&TransactionProgress),
    ) -> Result<Recorded, Error> {
        fulcrum_recorder::record_transactions(options, remote, report)
    }

    /// A refine loop. Its reports have no token.
    fn refine(
        &self,
        options: &RefineOptions,
        remote: &Remote,
        report: &mut dyn FnMut(RefineLiveParams),
    ) -> Result<RefineOutcome, Error> {
        let mut report = |progress: &_| report(refine::live(progress));
        fulcrum_recorder::refine(options, remote, &mut report).map(refine::outcome)
    }
}

/// Really runs programs.
#[derive(Clone, Copy, Debug)]
pub struct Real;

impl Recorder for Real {}

/// A closure stands in for causal runs in tests.
#[cfg(test)]
impl<F> Recorder for F
where
    F: Fn(&Options, &Remote, &mut dyn FnMut(&RunStatus)) -> Result<Recorded, Error> + Send + Sync,
{
    fn record(
        &self,
        options: &Options,
        remote: &Remote,
        report: &mut dyn FnMut(&RunStatus),
    ) -> Result<Recorded, Error> {
        self(options, remote, report)
    }
}
