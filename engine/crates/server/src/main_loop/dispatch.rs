//! From a request to its handler. The trait of the handler says where it runs: on the loop, on a pool, or on a thread of its
//! own.

use std::sync::Arc;

use fulcrum_model::Progress;
use lsp_server::{Request, RequestId};
use serde::de::DeserializeOwned;

use crate::events::closed;
use crate::navigator::Navigator;
use crate::pool::guarded;
use crate::protocol::Method;
use crate::protocol::failure::{Failure, response};
use crate::requests::{
    Deferred, Immediate, Mutating, Navigated, NavigatorReading, Pooled, TraceReading,
};
use crate::requests::{causal, document, events, navigator, refine, runs, trace, transactions};
use crate::state::{Pending, State, Task};

/// Handles a request of the client.
pub(super) fn request(state: &mut State, request: Request) {
    let progress = Progress::default();
    state
        .requests
        .incoming
        .register(request.id.clone(), progress.clone());
    if request.method == "shutdown" {
        state.shutting_down = true;
        state.stop_programs();
        return state.respond(response(request.id, Ok(())));
    }
    if state.shutting_down {
        let failure = Failure::shutting_down(&request.method);
        return state.respond(failure.response(request.id));
    }
    let mut call = Call {
        state,
        request: Some(request),
        progress,
    };
    causal_profiles(&mut call);
    documents(&mut call);
    recordings(&mut call);
    navigators(&mut call);
    event_traces(&mut call);
    transactional_profiles(&mut call);
    #[cfg(test)]
    crate::tests::test_requests(&mut call);
    call.finish();
}

fn causal_profiles(call: &mut Call<'_>) {
    call.deferred::<causal::open::Open>();
    call.deferred::<causal::run::Run>();
    call.mutating::<causal::clear::Clear>();
    call.mutating::<causal::control::Control>();
    call.pooled::<causal::compare::Compare>();
    call.pooled::<causal::ranking::RankingRequest>();
}

fn documents(call: &mut Call<'_>) {
    call.immediate::<document::progress_point::Edit>();
    call.pooled::<document::code_action::CodeActions>();
    call.pooled::<document::completion::Completions>();
    call.pooled::<document::hover::HoverRequest>();
    call.pooled::<document::inlay_hint::InlayHints>();
    call.pooled::<document::line_speedups::LineSpeedupsRequest>();
}

fn recordings(call: &mut Call<'_>) {
    call.pooled::<runs::list::List>();
    call.pooled::<runs::remove::Remove>();
    call.deferred::<trace::start::Start>();
    call.deferred::<refine::start::Start>();
    call.pooled::<refine::open::Open>();
    call.pooled::<refine::frame::Frame>();
}

fn navigators(call: &mut Call<'_>) {
    call.deferred::<navigator::open::Open>();
    call.deferred::<navigator::automatic::Automatic>();
    call.mutating::<navigator::close::Close>();
    call.navigated::<navigator::command::Command>();
    call.navigated::<navigator::rows::Rows>();
    call.navigator_reading::<navigator::flame::Flame>();
    call.navigator_reading::<navigator::flame_search::FlameSearch>();
    call.navigator_reading::<navigator::frame::Frame>();
    call.navigator_reading::<navigator::lines::Lines>();
    call.navigator_reading::<navigator::names::Names>();
    call.navigator_reading::<navigator::report::Report>();
}

fn event_traces(call: &mut Call<'_>) {
    call.deferred::<events::open::Open>();
    call.deferred::<events::tree::Tree>();
    call.deferred::<events::compare::Compare>();
    call.mutating::<events::close::Close>();
    call.trace_reading::<events::children::Children>();
    call.trace_reading::<events::timeline::Timeline>();
    call.trace_reading::<events::search::Search>();
    call.trace_reading::<events::query::Table>();
    call.trace_reading::<events::frame::Frame>();
    call.trace_reading::<events::queues::Queues>();
    call.trace_reading::<events::filter::Filter>();
}

fn transactional_profiles(call: &mut Call<'_>) {
    call.deferred::<transactions::start::Start>();
    call.deferred::<transactions::open::Open>();
    call.deferred::<transactions::tree::Tree>();
    call.deferred::<transactions::compare::Compare>();
    call.deferred::<transactions::price::Price>();
    call.pooled::<transactions::frame::Frame>();
}

/// A request on its way past the handlers: the one whose method it is takes it.
pub(crate) struct Call<'s> {
    state: &'s mut State,
    request: Option<Request>,
    progress: Progress,
}

impl Call<'_> {
    fn take<M: Method>(&mut self) -> Option<(RequestId, M::Params)> {
        let request = self.request.take_if(|request| request.method == M::NAME)?;
        match read_params(M::NAME, request.params) {
            Ok(params) => Some((request.id, params)),
            Err(failure) => {
                self.state.respond(failure.response(request.id));
                None
            }
        }
    }

    pub(crate) fn mutating<R: Mutating>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let result = guarded(R::Method::NAME, || R::run(self.state, params));
            self.state.respond(response(id, result));
        }
    }

    pub(crate) fn immediate<R: Immediate>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let snapshot = self.state.snapshot();
            let result = guarded(R::Method::NAME, || R::run(&snapshot, params));
            self.state.respond(response(id, result));
        }
    }

    pub(crate) fn pooled<R: Pooled>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let (snapshot, tasks) = (self.state.snapshot(), self.state.tasks());
            let progress = self.progress.clone();
            self.state.pool.spawn(move || {
                // Answered already: an editor cancels many of its requests while the cursor moves.
                if progress.is_cancelled() {
                    return;
                }
                let result = guarded(R::Method::NAME, || R::run(&snapshot, params));
                // The loop is gone only when the server is.
                let _ = tasks.send(Task::Respond(response(id, result)));
            });
        }
    }

    fn navigated<R: Navigated>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let of = R::navigator(&params);
            let Some(navigator) = self.state.navigators.get(&of) else {
                return self.state.respond(Navigator::absent(of).response(id));
            };
            let (tasks, progress) = (self.state.tasks(), self.progress.clone());
            navigator.send(move |navigation| {
                if progress.is_cancelled() {
                    return;
                }
                let result = guarded(R::Method::NAME, || R::run(navigation, params));
                let _ = tasks.send(Task::Respond(response(id, result)));
            });
        }
    }

    fn navigator_reading<R: NavigatorReading>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let of = R::navigator(&params);
            let Some(navigator) = self.state.navigators.get(&of) else {
                return self.state.respond(Navigator::absent(of).response(id));
            };
            let (snapshot, tasks) = (self.state.snapshot(), self.state.tasks());
            let (pool, progress) = (self.state.pool.clone(), self.progress.clone());
            navigator.send(move |navigation| {
                let search = navigation.snapshot();
                pool.spawn(move || {
                    if progress.is_cancelled() {
                        return;
                    }
                    let result = guarded(R::Method::NAME, || R::run(&search, &snapshot, params));
                    let _ = tasks.send(Task::Respond(response(id, result)));
                });
            });
        }
    }

    fn trace_reading<R: TraceReading>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let of = R::trace(&params);
            let Some(open) = self.state.traces.get(&of).map(Arc::clone) else {
                return self.state.respond(closed(of).response(id));
            };
            let (snapshot, tasks) = (self.state.snapshot(), self.state.tasks());
            let progress = self.progress.within(&open.open);
            self.state.trace_pool.spawn(move || {
                if progress.is_cancelled() {
                    return;
                }
                let result = guarded(R::Method::NAME, || {
                    R::run(&open, &snapshot, params, &progress)
                });
                let _ = tasks.send(Task::Respond(response(id, result)));
            });
        }
    }

    fn deferred<R: Deferred>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let pending = Pending {
                id: id.clone(),
                progress: self.progress.clone(),
            };
            let started = guarded(R::Method::NAME, || R::start(self.state, pending, params));
            if let Err(failure) = started {
                self.state.respond(failure.response(id));
            }
        }
    }

    fn finish(self) {
        if let Some(request) = self.request {
            let failure = Failure::unknown_method(&request.method);
            self.state.respond(failure.response(request.id));
        }
    }
}

/// The parameters of a request or notification.
pub(super) fn read_params<T: DeserializeOwned>(
    method: &str,
    params: serde_json::Value,
) -> Result<T, Failure> {
    // Missing parameters are an object without keys.
    let params = if params.is_null() {
        serde_json::json!({})
    } else {
        params
    };
    serde_json::from_value(params).map_err(|error| Failure::params(method, &error))
}
