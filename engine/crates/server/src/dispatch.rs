//! From a message to its handler, in three tiers: on the loop with the state, on the loop with a snapshot, on the pool.

use std::sync::Arc;

use fulcrum_model::{Cancelled, Progress};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;

use crate::events::closed;
use crate::failure::{Failure, response};
use crate::navigator::Navigator;
use crate::pool::guarded;
use crate::protocol::{
    CausalOpen, CausalRun, EventsCompare, EventsOpen, EventsOpenTree, Method, NavigatorOpen,
    NavigatorSearch, ProgressToken, RefineStart, TraceStart, TransactionsCompare,
    TransactionsGetPrice, TransactionsOpen, TransactionsOpenTree, TransactionsStart,
};
use crate::requests::{Immediate, Looking, Mutating, Navigated, Pooled, Traced};
use crate::requests::{
    clear::Clear, code_action::CodeActions, compare::Compare, completion::Completions,
    control::Control, edit::Edit, events, hover::HoverRequest, inlay_hint::InlayHints,
    line_speedups::LineSpeedupsRequest, navigator, open, ranking::RankingRequest, refine, run,
    runs, trace, transactions,
};
use crate::state::{State, Task};
use crate::uri;

/// A message of the client.
pub(crate) fn client(state: &mut State, message: Message) {
    match message {
        Message::Request(request) => self::request(state, request),
        Message::Notification(notification) => self::notification(state, notification),
        // We ask the client nothing.
        Message::Response(_) => {}
    }
}

fn request(state: &mut State, request: Request) {
    let progress = Progress::default();
    state
        .requests
        .incoming
        .register(request.id.clone(), progress.clone());
    if request.method == "shutdown" {
        state.shutting_down = true;
        state.stop_programs();
        return state.respond(Response::new_ok(request.id, ()));
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
    call.mutating::<Clear>();
    call.mutating::<Control>();
    call.immediate::<Edit>();
    call.pooled::<LineSpeedupsRequest>();
    call.pooled::<RankingRequest>();
    call.pooled::<runs::List>();
    call.pooled::<runs::Remove>();
    call.pooled::<refine::Open>();
    call.pooled::<refine::Frame>();
    call.pooled::<transactions::Frame>();
    call.pooled::<Compare>();
    call.pooled::<HoverRequest>();
    call.pooled::<InlayHints>();
    call.pooled::<CodeActions>();
    call.pooled::<Completions>();
    call.mutating::<navigator::Close>();
    call.navigated::<navigator::Command>();
    call.navigated::<navigator::Rows>();
    call.looking::<navigator::Flame>();
    call.looking::<navigator::FlameSearch>();
    call.looking::<navigator::Frame>();
    call.looking::<navigator::Lines>();
    call.looking::<navigator::Names>();
    call.looking::<navigator::Report>();
    call.mutating::<events::Close>();
    call.traced::<events::Children>();
    call.traced::<events::Timeline>();
    call.traced::<events::Search>();
    call.traced::<events::Table>();
    call.traced::<events::Frame>();
    call.traced::<events::Queues>();
    call.traced::<events::Filter>();
    call.own::<EventsOpen>(events::open);
    call.own::<EventsOpenTree>(events::tree);
    call.own::<EventsCompare>(events::compare);
    call.own::<CausalOpen>(|state, id, params, _| {
        open::open(state, id, params);
        Ok(())
    });
    call.own::<CausalRun>(run::run);
    call.own::<TraceStart>(trace::start);
    call.own::<RefineStart>(refine::start);
    call.own::<TransactionsStart>(transactions::start);
    call.own::<TransactionsOpen>(transactions::open);
    call.own::<TransactionsOpenTree>(transactions::tree);
    call.own::<TransactionsCompare>(transactions::compare);
    call.own::<TransactionsGetPrice>(transactions::price);
    call.own::<NavigatorOpen>(navigator::open);
    call.own::<NavigatorSearch>(navigator::automatic);
    #[cfg(test)]
    crate::tests::test_requests(&mut call);
    call.finish();
}

/// One request on its way through the handlers; the first that knows the method takes it.
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
                // Answered already: an editor cancels much of what it asks while the cursor moves.
                if progress.is_cancelled() {
                    return;
                }
                let result = guarded(R::Method::NAME, || R::run(&snapshot, params));
                // The loop is gone only when the server is.
                let _ = tasks.send(Task::Respond(response(id, result)));
            });
        }
    }

    pub(crate) fn navigated<R: Navigated>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let number = R::navigator(&params);
            let Some(navigator) = self.state.navigators.get(&number) else {
                return self.state.respond(Navigator::absent(number).response(id));
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

    pub(crate) fn looking<R: Looking>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let number = R::navigator(&params);
            let Some(navigator) = self.state.navigators.get(&number) else {
                return self.state.respond(Navigator::absent(number).response(id));
            };
            let (snapshot, tasks) = (self.state.snapshot(), self.state.tasks());
            let (pool, progress) = (self.state.pool.clone(), self.progress.clone());
            navigator.send(move |navigation| {
                let look = navigation.look();
                pool.spawn(move || {
                    if progress.is_cancelled() {
                        return;
                    }
                    let result = guarded(R::Method::NAME, || R::run(&look, &snapshot, params));
                    let _ = tasks.send(Task::Respond(response(id, result)));
                });
            });
        }
    }

    pub(crate) fn traced<R: Traced>(&mut self) {
        if let Some((id, params)) = self.take::<R::Method>() {
            let number = R::trace(&params);
            let Some(open) = self.state.traces.get(&number).map(Arc::clone) else {
                return self.state.respond(closed(number).response(id));
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

    /// A request that answers later by a task of its own.
    fn own<M: Method>(
        &mut self,
        start: impl FnOnce(&mut State, RequestId, M::Params, &Progress) -> Result<(), Failure>,
    ) {
        let progress = self.progress.clone();
        if let Some((id, params)) = self.take::<M>()
            && let Err(failure) =
                guarded(M::NAME, || start(self.state, id.clone(), params, &progress))
        {
            self.state.respond(failure.response(id));
        }
    }

    fn finish(self) {
        if let Some(request) = self.request {
            let failure = Failure::unknown_method(&request.method);
            self.state.respond(failure.response(request.id));
        }
    }
}

fn read_params<T: DeserializeOwned>(method: &str, params: serde_json::Value) -> Result<T, Failure> {
    // A request without parameters is one with no keys.
    let params = if params.is_null() {
        serde_json::json!({})
    } else {
        params
    };
    serde_json::from_value(params).map_err(|error| Failure::params(method, &error))
}

fn notification(state: &mut State, notification: Notification) {
    let Notification { method, params } = notification;
    // A notification cannot be answered; one that cannot be read changes nothing.
    match method.as_str() {
        "textDocument/didOpen" => {
            if let Ok(p) = read_params::<gen_lsp_types::DidOpenTextDocumentParams>(&method, params)
            {
                let item = p.text_document;
                let uri = item.uri.to_string();
                let documents = Arc::make_mut(&mut state.documents);
                documents.open(&uri, &item.language_id.to_string(), item.version, item.text);
                diagnose(state, &uri);
            }
        }
        "textDocument/didChange" => {
            if let Ok(p) =
                read_params::<gen_lsp_types::DidChangeTextDocumentParams>(&method, params)
            {
                let uri = p.text_document.text_document_identifier.uri.to_string();
                let encoding = state.config.encoding;
                let documents = Arc::make_mut(&mut state.documents);
                if documents.change(&uri, p.text_document.version, p.content_changes, encoding) {
                    diagnose(state, &uri);
                }
            }
        }
        "textDocument/didClose" => {
            if let Ok(p) = read_params::<gen_lsp_types::DidCloseTextDocumentParams>(&method, params)
            {
                let uri = p.text_document.uri.to_string();
                let filter = is_filter(state, &uri);
                Arc::make_mut(&mut state.documents).close(&uri);
                if filter {
                    state.forget_filter(&uri);
                } else {
                    diagnose(state, &uri);
                }
            }
        }
        "workspace/didChangeWorkspaceFolders" => {
            if let Ok(p) =
                read_params::<gen_lsp_types::DidChangeWorkspaceFoldersParams>(&method, params)
            {
                let paths = |folders: &[gen_lsp_types::WorkspaceFolder]| {
                    folders
                        .iter()
                        .filter_map(|f| uri::to_path(f.uri.as_ref()))
                        .collect::<Vec<_>>()
                };
                open::folders_changed(state, paths(&p.event.added), &paths(&p.event.removed));
            }
        }
        "$/cancelRequest" => {
            if let Ok(p) = read_params::<Cancel>(&method, params) {
                cancel(state, p.id);
            }
        }
        "window/workDoneProgress/cancel" => {
            if let Ok(p) = read_params::<CancelProgress>(&method, params) {
                let working = state.working.iter();
                let working = working.filter(|(_, it)| it.token.as_ref() == Some(&p.token));
                let ids: Vec<RequestId> = working.map(|(id, _)| id.clone()).collect();
                for id in ids {
                    cancel(state, id);
                }
            }
        }
        _ => {}
    }
}

#[derive(serde::Deserialize)]
struct Cancel {
    id: RequestId,
}

#[derive(serde::Deserialize)]
struct CancelProgress {
    token: ProgressToken,
}

fn cancel(state: &mut State, id: RequestId) {
    if let Some(working) = state.working.get(&id).filter(|it| it.keeps) {
        working.progress.cancel();
    } else if let Some(progress) = state.requests.incoming.complete(&id) {
        state.working.remove(&id);
        progress.cancel();
        state.send(
            Response::new_err(id, ErrorCode::RequestCanceled as i32, Cancelled.to_string()).into(),
        );
    }
}

fn is_filter(state: &State, uri: &str) -> bool {
    state
        .documents
        .by_uri(uri)
        .is_some_and(|document| document.is_filter)
}

/// The diagnostics of one document, after its text changed.
fn diagnose(state: &mut State, uri: &str) {
    if is_filter(state, uri) {
        state.check_filter(uri);
    } else if state.profile.is_some()
        && let Some(path) = crate::sources::path_of(uri)
    {
        state.refresh_diagnostics(Some(path));
    }
}
