//! A client in the same process, talking to the real server.

mod client;
mod compare;
mod documents;
mod events;
mod examples;
mod failures;
mod filters;
mod fixtures;
mod live;
mod navigator;
mod navigator_failures;
mod navigator_flame;
mod navigator_places;
mod price;
mod programs;
mod progress_points;
mod runs;
mod session;
mod store;
mod targets;
mod transactions;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::main_loop::dispatch::Call;
use crate::protocol::Method;
use crate::protocol::failure::Failure;
use crate::requests::{Immediate, Mutating, Pooled};
use crate::snapshot::Snapshot;
use crate::state::State;

/// Requests that only exist under test: they misbehave.
pub(crate) fn test_requests(call: &mut Call<'_>) {
    call.mutating::<Panics<0>>();
    call.immediate::<Panics<1>>();
    call.pooled::<Panics<2>>();
    call.pooled::<Waits>();
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Nothing {}

macro_rules! method {
    ($name:ident = $text:literal ($params:ty)) => {
        pub(crate) enum $name {}
        impl Method for $name {
            const NAME: &'static str = $text;
            type Params = $params;
            type Result = ();
        }
    };
}

method!(PanicMutating = "test/panic/mutating"(Nothing));
method!(PanicImmediate = "test/panic/immediate"(Nothing));
method!(PanicPooled = "test/panic/pooled"(Nothing));
method!(Wait = "test/wait"(WaitParams));

pub(crate) enum Panics<const TIER: usize> {}

impl Mutating for Panics<0> {
    type Method = PanicMutating;
    fn run(_: &mut State, _: Nothing) -> Result<(), Failure> {
        panic!("on the loop, with the state")
    }
}

impl Immediate for Panics<1> {
    type Method = PanicImmediate;
    fn run(_: &Snapshot, _: Nothing) -> Result<(), Failure> {
        panic!("on the loop, with a snapshot")
    }
}

impl Pooled for Panics<2> {
    type Method = PanicPooled;
    fn run(_: &Snapshot, _: Nothing) -> Result<(), Failure> {
        panic!("on the pool")
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WaitParams {
    /// Answers when this file exists.
    file: PathBuf,
}

pub(crate) enum Waits {}

impl Pooled for Waits {
    type Method = Wait;
    fn run(_: &Snapshot, params: WaitParams) -> Result<(), Failure> {
        while !params.file.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}
