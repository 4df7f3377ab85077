//! `fulcrum/events/tree`: folds a part of a trace on a thread that then does the navigator's commands.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_events::Indexed;
use fulcrum_model::Progress;
use lsp_server::RequestId;

use crate::events::{OpenTrace, closed, convert, fold_failure};
use crate::failure::Failure;
use crate::navigator::Navigation;
use crate::pool::{guarded, thread};
use crate::protocol::{EventsOpenTree, EventsPart, EventsTreeParams, Method};
use crate::requests::navigator::serve;
use crate::state::State;

/// Folds on a thread that then does the navigator's commands.
pub(crate) fn tree(
    state: &mut State,
    id: RequestId,
    params: EventsTreeParams,
    request: &Progress,
) -> Result<(), Failure> {
    let open = Arc::clone(
        state
            .traces
            .get(&params.id)
            .ok_or_else(|| closed(params.id))?,
    );
    let folder = state.folders.first().cloned();
    let request = request.within(&open.open);
    let work = state.begin(&id, params.work_done_token, &request);
    work.begin("Folding events");
    thread(move || {
        let opened = guarded(EventsOpenTree::NAME, || {
            let session = folded(&open, params.part, &work.progress)?;
            let bases = open.path.parent().map(PathBuf::from);
            Ok(Navigation::of(
                session,
                bases.into_iter().collect(),
                folder.as_deref(),
            ))
        });
        serve(id, &work, opened);
    })
}

fn folded(
    open: &OpenTrace,
    part: EventsPart,
    progress: &Progress,
) -> Result<fulcrum_profiles::OpenSearch, Failure> {
    let Indexed { trace, index } = &open.indexed;
    let of = convert::part(part);
    let tree = open.indexed.fold(&of, progress);
    let tree = tree.map_err(|error| fold_failure(error, part))?;
    let place = match (part.thread, part.node) {
        (None, _) => String::new(),
        (Some(thread), None) => format!(", {}", trace.thread(thread).map_or("?", |it| &it.name)),
        (Some(thread), Some(node)) => {
            let row = open.indexed.row(thread, node, progress);
            row?.map_or_else(String::new, |hit| format!(", {}", hit.row.name(trace)))
        }
    };
    // Tells this part of this log apart, so that its labels are found again.
    let digest = format!(
        "events {} {} {} {} {:?}",
        trace.start_unix_ns,
        trace.pid,
        index.events,
        trace.bytes(),
        part
    );
    let name = format!("{}{place}", open.title);
    Ok(fulcrum_profiles::OpenSearch::of_tree(
        tree, name, digest, "wall",
    )?)
}
