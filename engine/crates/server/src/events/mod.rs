//! Open event traces. Many requests read them at once, and none changes them.

pub(crate) mod convert;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fulcrum_events::{Cost, End, Filter, Indexed, Row, Trace, compare, queues};
use fulcrum_model::{Cancelled, Progress};

use crate::protocol::failure::Failure;
use crate::protocol::{
    EventsOpened, EventsPart, EventsQueueNames, EventsThread, NodeId, ThreadId, TraceId,
};

/// An open trace.
pub(crate) struct OpenTrace {
    pub indexed: Indexed,
    /// Cancelled when the trace is closed, and with it what still reads it.
    pub open: Progress,
    pub path: PathBuf,
    pub title: String,
    /// The queueing column, by thread and node, of the queue that was replayed last.
    cells: Mutex<Arc<queues::Cells>>,
    /// By the names of its methods and the order that was asked for.
    queue: Last<([String; 2], Option<queues::Order>), queues::Queue>,
    /// Children by a cost.
    sorted: Last<(TreeNode, Cost), Vec<Row>>,
    /// By the trace before. Ids are not used again.
    compared: Last<TraceId, compare::Comparison>,
}

/// A thread's event tree, or a node in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeNode {
    pub thread: ThreadId,
    /// `None` for the whole tree.
    pub node: Option<NodeId>,
}

impl TreeNode {
    pub(crate) fn new(thread: ThreadId, node: Option<NodeId>) -> TreeNode {
        TreeNode { thread, node }
    }

    /// Thread and node as the reader of traces numbers them.
    pub(crate) fn raw(self) -> (u32, Option<u64>) {
        (self.thread.0, self.node.map(|it| it.0))
    }

    /// The failure of a request for a thread or node that the trace does not have.
    pub(crate) fn absent(self) -> Failure {
        let thread = self.thread;
        let message = match self.node {
            Some(node) => format!("thread {thread} of the trace has no node {node}"),
            None => format!("the trace has no thread {thread}"),
        };
        Failure::user(message, None)
    }
}

/// The last result, and the key that it was found for: pages and scrolling ask for the same again and again.
struct Last<K, V>(Mutex<Option<(K, Arc<V>)>>);

impl<K, V> Default for Last<K, V> {
    fn default() -> Self {
        Last(Mutex::new(None))
    }
}

impl<K: PartialEq, V> Last<K, V> {
    /// The last result if it was for this key, else what `find` finds. Others may ask meanwhile.
    fn or_find(
        &self,
        key: K,
        find: impl FnOnce() -> Result<V, Failure>,
    ) -> Result<Arc<V>, Failure> {
        if let Some((last, found)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && *last == key
        {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(find()?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, Arc::clone(&found)));
        Ok(found)
    }
}

impl std::fmt::Debug for OpenTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTrace")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl OpenTrace {
    /// Opens a log and goes through it.
    pub(crate) fn open(
        run: &Path,
        filter: Option<&Path>,
        progress: &Progress,
    ) -> Result<(OpenTrace, EventsOpened), Failure> {
        let path =
            fulcrum_events::log(run).map_err(|error| Failure::user(error.to_string(), None))?;
        let failed = |error: &dyn std::fmt::Display| {
            Failure::user(format!("{}: {error}", path.display()), None)
        };
        let mut trace = Trace::open(&path).map_err(|error| failed(&error))?;
        if let Some(filter) = filter {
            let failed = |error: &dyn std::fmt::Display| {
                Failure::user(format!("{}: {error}", filter.display()), None)
            };
            let text = std::fs::read_to_string(filter).map_err(|error| failed(&error))?;
            trace.set_filter(&Filter::parse(&text).map_err(|error| failed(&error))?);
        }
        let progress = progress.with_phase("reading events");
        let indexed = Indexed::new(trace, &progress)?;
        let folder = path.parent().and_then(Path::file_name);
        let title = folder
            .or(path.file_name())
            .unwrap_or_default()
            .to_string_lossy();
        let open = OpenTrace {
            title: title.into_owned(),
            indexed,
            open: Progress::default(),
            path,
            cells: Mutex::default(),
            queue: Last::default(),
            sorted: Last::default(),
            compared: Last::default(),
        };
        let opened = open.opened();
        Ok((open, opened))
    }

    fn opened(&self) -> EventsOpened {
        let Indexed { trace, index } = &self.indexed;
        let (start_ns, end_ns) = index.range();
        let queues: Vec<_> = queues::suggestions(trace, index)
            .into_iter()
            .map(|(put, take)| EventsQueueNames { put, take })
            .collect();
        let threads = trace
            .threads
            .iter()
            .zip(&index.threads)
            .map(|(thread, of)| EventsThread {
                id: ThreadId(thread.id),
                name: thread.name.clone(),
                group: thread.group.clone(),
                parent: (thread.parent > 0).then_some(ThreadId(thread.parent)),
                start_ns: of.start_ns,
                end_ns: of.end_ns,
                events: of.events,
                rows: of.rows,
                wall_ns: of.end_ns - of.start_ns,
                cpu_ns: of.cpu_ns,
            });
        EventsOpened {
            // The loop gives the id.
            id: TraceId::default(),
            title: self.title.clone(),
            path: self.path.to_string_lossy().into_owned(),
            threads: threads.collect(),
            start_ns,
            end_ns,
            events: index.events,
            lost: match trace.end {
                End::Full { dropped, .. } => dropped,
                End::Ended | End::Open => 0,
            },
            has_cpu: trace.has_cpu(),
            has_queues: !queues.is_empty(),
            queues,
            notes: self.notes(),
        }
    }

    fn notes(&self) -> Vec<String> {
        let Indexed { trace, index } = &self.indexed;
        let end = trace.end.note();
        end.into_iter()
            .chain(trace.notes.iter().cloned())
            .chain(index.problems.iter().cloned())
            .collect()
    }

    /// The queueing column.
    pub(crate) fn cells(&self) -> Arc<queues::Cells> {
        Arc::clone(&self.cells.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replays a queue, unless it is the one that was replayed last.
    pub(crate) fn queue(
        &self,
        names: [&str; 2],
        order: Option<queues::Order>,
        progress: &Progress,
    ) -> Result<Arc<queues::Queue>, Failure> {
        self.queue.or_find((names.map(str::to_owned), order), || {
            let scope = fulcrum_events::TraceRange::default();
            let found = queues::queue(&self.indexed.trace, &scope, names, order, progress);
            let queue = found.map_err(|error| match error {
                queues::QueueError::Cancelled => Cancelled.into(),
                error => Failure::user(error.to_string(), None),
            })?;
            *self.cells.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(queue.cells());
            Ok(queue)
        })
    }

    /// Children by a cost.
    pub(crate) fn sorted(
        &self,
        at: TreeNode,
        cost: Cost,
        progress: &Progress,
    ) -> Result<Arc<Vec<Row>>, Failure> {
        self.sorted.or_find((at, cost), || {
            let (thread, node) = at.raw();
            let rows = self.indexed.dearest(thread, node, cost, progress)?;
            rows.ok_or_else(|| at.absent())
        })
    }

    /// What changed from a trace, which is open as `id`, to this one.
    pub(crate) fn compared(
        &self,
        id: TraceId,
        before: &OpenTrace,
        progress: &Progress,
    ) -> Result<Arc<compare::Comparison>, Failure> {
        self.compared.or_find(id, || {
            let (a, b) = (&self.indexed.trace, &before.indexed.trace);
            Ok(compare::compare(a, b, progress)?)
        })
    }
}

/// The failure of a request for a trace that is not open.
pub(crate) fn closed(id: TraceId) -> Failure {
    Failure::user(
        format!("trace {id} is not open"),
        Some("Open its run again."),
    )
}

/// Why a part could not be folded.
pub(crate) fn fold_failure(error: fulcrum_events::FoldError, part: EventsPart) -> Failure {
    match error {
        fulcrum_events::FoldError::Cancelled => Cancelled.into(),
        fulcrum_events::FoldError::Absent => {
            TreeNode::new(part.thread.unwrap_or_default(), part.node).absent()
        }
        fulcrum_events::FoldError::Tree(error) => Failure::user(
            format!("this part makes too large a call tree: {error}"),
            Some("Choose one thread, or a node."),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_last_is_not_looked_for_again() {
        let last = Last::<u32, String>::default();
        let find = |key: u32| last.or_find(key, || Ok(format!("of {key}")));
        let first = find(1).expect("found");
        let again = last.or_find(1, || panic!("it is known")).expect("known");
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(*find(2).expect("found"), "of 2");
        assert!(last.or_find(1, || Err(Cancelled.into())).is_err());
        let kept = last.or_find(2, || panic!("a failure leaves it"));
        assert_eq!(*kept.expect("known"), "of 2");
    }
}
