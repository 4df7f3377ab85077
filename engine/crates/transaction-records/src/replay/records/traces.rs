//! The traces that requests belong to (W3C Trace Context).

use fulcrum_transactions::recognise::Traced;
use fulcrum_wire::transactions::MAX_HEAD;

use crate::index::EndId;
use crate::replay::state::request::Carried;
use crate::replay::state::world::World;

impl World<'_> {
    /// Looks for the trace of the latest request at an end, in the bytes received so far. A transaction belongs to the
    /// first trace that one of its requests names.
    pub(in crate::replay) fn look_for_trace(&mut self, end: EndId) {
        let recognition = self.recognition;
        let side = self.side(end);
        let Some(request) = side.request.as_mut().filter(|it| !it.is_looked_through) else {
            return;
        };
        let traced = recognition.traced(&side.head);
        request.is_looked_through = traced != Traced::Unfinished || side.head.len() >= MAX_HEAD;
        let by = request.task;
        if let Traced::Parent(parent) = traced {
            let instance = self.tasks[by].instance;
            let trace = &mut self.instances[instance as usize].trace;
            let by = Some(by);
            let of = trace.get_or_insert(Carried { parent, by });
            self.traced.insert(of.parent.trace, instance);
        }
    }
}
