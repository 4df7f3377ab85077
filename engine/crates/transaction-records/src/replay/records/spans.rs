//! Spans that an SDK publishes for its threads (OTEP 4947). They take precedence over what was inferred about the
//! transaction of a thread. Where both agree, they add the trace, and a name if requests have none.

use fulcrum_transactions::recognise::Recognition;
use fulcrum_transactions::{Arrival, SpanId, Step, Synopsis, TraceId, TraceParent};
use fulcrum_wire::transactions::Record;

use crate::replay::state::doing::{Doing, InstanceId, ThreadRow};
use crate::replay::state::request::Carried;
use crate::replay::state::world::World;

/// The stage by which a transaction reached another process if only its trace is known.
const BY_TRACE: &str = "trace";

impl World<'_> {
    /// The thread enters a span, or leaves all spans.
    pub(in crate::replay) fn is_in_span(
        &mut self,
        thread: ThreadRow,
        time_ns: u64,
        record: &Record<'_>,
    ) {
        let &Record::Span {
            trace,
            span,
            flags,
            attributes,
        } = record
        else {
            return;
        };
        let [high, low] = trace.map(u64::to_le_bytes);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high);
        bytes[8..].copy_from_slice(&low);
        let ids = TraceId::new(bytes).zip(SpanId::new(span.to_le_bytes()));
        let Some((trace, parent)) = ids else {
            self.leaves_span(thread, time_ns);
            return;
        };
        let said = TraceParent {
            trace,
            parent,
            flags,
        };
        if !self.is_of_trace(thread, said) {
            self.joins(thread, said, time_ns);
        }
        self.name_span(thread, attributes, time_ns);
    }

    /// A thread that worked for a transaction only because the SDK said so stops doing so.
    fn leaves_span(&mut self, thread: ThreadRow, time_ns: u64) {
        let joined = self.threads[thread].joined.take();
        if joined.is_some() && joined == self.threads[thread].doing().task {
            self.works_for(thread, Doing::default(), time_ns);
        }
    }

    /// Whether the thread works for a transaction of this trace. A transaction without a known trace joins this one.
    fn is_of_trace(&mut self, thread: ThreadRow, said: TraceParent) -> bool {
        let doing = self.threads[thread].doing();
        let Some(instance) = self.instance_of(doing) else {
            return false;
        };
        let trace = &mut self.instances[instance as usize].trace;
        let of = *trace.get_or_insert(Carried {
            parent: said,
            by: None,
        });
        if of.parent.trace != said.trace {
            return false;
        }
        self.traced.insert(said.trace, instance);
        true
    }

    /// From now on the thread works for the transaction of a trace, although it is unknown how it got there.
    fn joins(&mut self, thread: ThreadRow, said: TraceParent, time_ns: u64) {
        let process = self.threads[thread].process;
        let known = self.traced.get(&said.trace).copied();
        let context = known.map_or(Synopsis::EMPTY, |it| self.continued(process, it));
        let task = self.begin_task(process, known, None, time_ns);
        let instance = self.tasks[task].instance;
        self.traced.insert(said.trace, instance);
        let trace = &mut self.instances[instance as usize].trace;
        trace.get_or_insert(Carried {
            parent: said,
            by: None,
        });
        let task = Some(task);
        self.works_for(thread, Doing { context, task }, time_ns);
        self.threads[thread].joined = task;
    }

    /// The context in which a process continues a transaction, given that it takes part in its trace.
    fn continued(&mut self, process: usize, of: InstanceId) -> Synopsis {
        let task = &self.tasks[self.instances[of as usize].task];
        let (origin, context) = (task.process, task.context);
        if origin == process {
            return context;
        }
        let dictionary = &mut self.processes[origin].dictionary;
        let at = Step::Stage(dictionary.names.intern(BY_TRACE));
        let chain = dictionary.send(context, at);
        let arrival = self.processes[process].dictionary.receive(&chain);
        arrival.map_or(Synopsis::EMPTY, Arrival::context)
    }

    /// Names the thread's work by the span's attributes, unless its request has a name.
    fn name_span(&mut self, thread: ThreadRow, attributes: &[u8], time_ns: u64) {
        let process = self.threads[thread].process;
        let doing = self.threads[thread].doing();
        if self.recognition == Recognition::Off || doing.task.is_none() {
            return;
        }
        let Some(name) = self.index.processes[process]
            .context_keys
            .request(attributes)
        else {
            return;
        };
        let dictionary = &mut self.processes[process].dictionary;
        if dictionary.before_request(doing.context) != doing.context {
            return;
        }
        let step = Step::Request(dictionary.names.intern(&name));
        let context = dictionary.append(doing.context, step);
        self.works_for(thread, Doing { context, ..doing }, time_ns);
    }
}
