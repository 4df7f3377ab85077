//! `fulcrum/events/tree`: folds a part of a trace on a thread that then does the navigator's commands.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_events::Indexed;
use fulcrum_model::Progress;

use crate::events::{OpenTrace, closed, convert, fold_failure};
use crate::navigator::Navigation;
use crate::protocol::failure::Failure;
use crate::protocol::{EventsOpenTree, EventsPart, EventsTreeParams};
use crate::requests::Deferred;
use crate::requests::navigator::serve::open_and_serve;
use crate::state::{Pending, State};

pub(crate) enum Tree {}

impl Deferred for Tree {
    type Method = EventsOpenTree;

    fn start(state: &mut State, pending: Pending, params: EventsTreeParams) -> Result<(), Failure> {
        let open = state.traces.get(&params.id).map(Arc::clone);
        let open = open.ok_or_else(|| closed(params.id))?;
        let folder = state.folders.first().cloned();
        let pending = pending.within(&open.open);
        let (token, title) = (params.work_done_token, "Folding events");
        open_and_serve::<EventsOpenTree>(state, pending, token, title, move |work| {
            let search = folded(&open, params.part, &work.progress)?;
            let bases = open.path.parent().map(PathBuf::from);
            let bases = bases.into_iter().collect();
            Ok(Navigation::of(search, bases, folder.as_deref()))
        })
    }
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
        (Some(thread), None) => {
            let name = trace.thread(thread.0).map_or("?", |it| &it.name);
            format!(", {name}")
        }
        (Some(thread), Some(node)) => {
            let row = open.indexed.row(thread.0, node.0, progress);
            row?.map_or_else(String::new, |hit| format!(", {}", hit.row.name(trace)))
        }
    };
    // Tells this part of this log from others, so that its labels are found again.
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
