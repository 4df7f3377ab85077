//! The fields of rows in queries.

use crate::index::rows::{Row, RowWhat};
use crate::reader::event::What;
use crate::reader::open::Trace;
use crate::tree::stack::{Closing, Node};
use crate::tree::walk::Open;

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    What,
    Kind,
    Method,
    Class,
    Name,
    Descriptor,
    Thread,
    Group,
    Role,
    Ended,
    Parent,
    Inside,
    Start,
    End,
    Wall,
    Cpu,
    SelfWall,
    SelfCpu,
    Probes,
    Depth,
    Children,
    ThreadNumber,
    Node,
    Object,
    Bytes,
    Arguments,
    Returned,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Text,
    Time,
    Bytes,
    Number,
}

/// Name, field, type and meaning of each field.
pub(crate) const FIELDS: [(&str, Field, Sort, &str); 27] = [
    (
        "what",
        Field::What,
        Sort::Text,
        "the method, or the class of the object that was waited for or made",
    ),
    (
        "method",
        Field::Method,
        Sort::Text,
        "class and name of the called method",
    ),
    (
        "class",
        Field::Class,
        Sort::Text,
        "class of the method, or of the object",
    ),
    ("name", Field::Name, Sort::Text, "name of the method alone"),
    (
        "descriptor",
        Field::Descriptor,
        Sort::Text,
        "the method's parameters and result, as class files write them",
    ),
    (
        "kind",
        Field::Kind,
        Sort::Text,
        "call, contended, wait, gc, allocation, release, threadStart, threadEnd, classLoad, classUnload, vmStart, vmEnd",
    ),
    (
        "ended",
        Field::Ended,
        Sort::Text,
        "returned, thrown, open (the log ended before) or lost",
    ),
    ("thread", Field::Thread, Sort::Text, "name of the thread"),
    ("group", Field::Group, Sort::Text, "its thread group"),
    (
        "role",
        Field::Role,
        Sort::Text,
        "its name with # for numbers",
    ),
    (
        "tid",
        Field::ThreadNumber,
        Sort::Number,
        "number of the thread in the log",
    ),
    (
        "parent",
        Field::Parent,
        Sort::Text,
        "method that it was called from directly",
    ),
    (
        "inside",
        Field::Inside,
        Sort::Text,
        "any method that it was called from",
    ),
    (
        "start",
        Field::Start,
        Sort::Time,
        "when it began, since the log's start",
    ),
    ("end", Field::End, Sort::Time, "when it ended"),
    (
        "wall",
        Field::Wall,
        Sort::Time,
        "how long it took, without what probes cost",
    ),
    ("cpu", Field::Cpu, Sort::Time, "CPU time"),
    (
        "self",
        Field::SelfWall,
        Sort::Time,
        "wall less that of what is inside",
    ),
    (
        "selfcpu",
        Field::SelfCpu,
        Sort::Time,
        "cpu less that of what is inside",
    ),
    (
        "probes",
        Field::Probes,
        Sort::Time,
        "what was subtracted for probes",
    ),
    (
        "depth",
        Field::Depth,
        Sort::Number,
        "how many calls it is inside of",
    ),
    (
        "children",
        Field::Children,
        Sort::Number,
        "how many rows are directly below it",
    ),
    (
        "node",
        Field::Node,
        Sort::Number,
        "its number in the thread",
    ),
    (
        "object",
        Field::Object,
        Sort::Number,
        "number of the object that was waited for or made",
    ),
    (
        "bytes",
        Field::Bytes,
        Sort::Bytes,
        "size of the object that was made",
    ),
    (
        "arguments",
        Field::Arguments,
        Sort::Text,
        "what the call was given, where the log tells values",
    ),
    (
        "returned",
        Field::Returned,
        Sort::Text,
        "what the call returned, where the log tells values; texts without quotes",
    ),
];

impl Field {
    /// The field with a name.
    pub(crate) fn named(name: &str) -> Option<Field> {
        let found = FIELDS.iter().find(|(it, ..)| *it == name);
        found.map(|(_, field, ..)| *field)
    }

    pub(crate) fn name(self) -> &'static str {
        self.entry().0
    }

    pub(crate) fn sort(self) -> Sort {
        self.entry().2
    }

    fn entry(self) -> &'static (&'static str, Field, Sort, &'static str) {
        let found = FIELDS.iter().find(|(_, field, ..)| *field == self);
        found.expect("every field is in the table")
    }
}

/// A row and the open nodes around it, outermost first.
pub(crate) struct Subject<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) row: &'a Row,
    pub(crate) above: &'a [Open],
}

impl Subject<'_> {
    /// The row's number in a field. Times are in nanoseconds.
    pub(crate) fn number(&self, field: Field) -> Option<u64> {
        let row = self.row;
        let span = matches!(row.what, RowWhat::Span(_));
        match field {
            Field::Start => Some(row.start_ns),
            Field::End => Some(row.end_ns),
            Field::Wall => span.then_some(row.times.wall_ns),
            Field::Cpu => row.times.cpu_ns,
            Field::SelfWall => span.then_some(row.times.self_wall_ns),
            Field::SelfCpu => row.times.self_cpu_ns,
            Field::Probes => span.then_some(row.probes_ns),
            Field::Depth => Some(u64::from(row.depth)),
            Field::Children => Some(row.children),
            Field::ThreadNumber => Some(u64::from(row.thread)),
            Field::Node => Some(row.node),
            Field::Object => row.object(),
            Field::Bytes => match row.what {
                RowWhat::Point(What::Allocation { bytes, .. }) => Some(bytes),
                _ => None,
            },
            Field::What
            | Field::Kind
            | Field::Method
            | Field::Class
            | Field::Name
            | Field::Descriptor
            | Field::Thread
            | Field::Group
            | Field::Role
            | Field::Ended
            | Field::Parent
            | Field::Arguments
            | Field::Returned
            | Field::Inside => None,
        }
    }

    /// The key of the row's text in a field, unique within a trace. `None` if there is no text.
    pub(crate) fn key(&self, field: Field) -> Option<u64> {
        match field {
            Field::Kind => Some(self.row.kind() as u64),
            Field::Ended => Some(self.row.closing as u64),
            Field::Thread | Field::Group | Field::Role => Some(u64::from(self.row.thread)),
            Field::Method | Field::Name | Field::Descriptor => self.row.method().map(u64::from),
            Field::What | Field::Class => match (self.row.method(), self.row.class()) {
                (Some(method), _) => Some(u64::from(method)),
                (None, Some(class)) => Some(1 << 32 | u64::from(class)),
                (None, None) => None,
            },
            Field::Parent => self.above.last().and_then(method_of),
            _ => None,
        }
    }

    /// A text without a key: the call's values. `None` if the field has keys, or the log does not have the values.
    pub(crate) fn own_text(&self, field: Field) -> Option<String> {
        let values = self.row.values.as_ref()?;
        match field {
            Field::Arguments => {
                let given = values.arguments.as_ref()?;
                Some(given.shown(self.trace))
            }
            Field::Returned => Some(values.returned.as_ref()?.plain(self.trace)),
            _ => None,
        }
    }

    /// The text of a key.
    pub(crate) fn text(&self, field: Field, key: u64) -> String {
        let trace = self.trace;
        let method = || trace.methods.get(&(key as u32));
        let thread = || trace.thread(key as u32);
        match field {
            Field::Kind => KINDS[(key as usize).min(KINDS.len() - 1)].to_owned(),
            Field::Ended => ended(self.row.closing).to_owned(),
            Field::Thread => thread().map_or_else(String::new, |it| it.name.clone()),
            Field::Group => thread().map_or_else(String::new, |it| it.group.clone()),
            Field::Role => thread().map_or_else(String::new, |it| crate::compare::role(&it.name)),
            Field::Name => {
                method().map_or_else(|| trace.method_name(key as u32), |it| it.name.clone())
            }
            Field::Descriptor => method().map_or_else(String::new, |it| it.descriptor.clone()),
            Field::What | Field::Class if key >> 32 == 1 => trace.class_name(key as u32).to_owned(),
            Field::Class => method().map_or_else(String::new, |it| it.class.clone()),
            _ => trace.method_name(key as u32),
        }
    }
}

pub(crate) fn method_of(open: &Open) -> Option<u64> {
    match open.what {
        Node::Call { method } => Some(u64::from(method)),
        _ => None,
    }
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RowKind {
    Call,
    Contended,
    Wait,
    Gc,
    Allocation,
    Release,
    ThreadStart,
    ThreadEnd,
    ClassLoad,
    ClassUnload,
    VmStart,
    VmEnd,
}

const KINDS: [&str; 12] = [
    "call",
    "contended",
    "wait",
    "gc",
    "allocation",
    "release",
    "threadStart",
    "threadEnd",
    "classLoad",
    "classUnload",
    "vmStart",
    "vmEnd",
];

impl RowKind {
    /// The name in queries and exports.
    pub fn name(self) -> &'static str {
        KINDS[self as usize]
    }

    pub(super) fn names() -> &'static [&'static str] {
        &KINDS
    }
}

/// The kind of row that an event makes by itself. `None` for events that begin or end something, or belong to another event.
fn point_kind(what: &What) -> Option<RowKind> {
    match what {
        What::Allocation { .. } => Some(RowKind::Allocation),
        What::Release { .. } => Some(RowKind::Release),
        What::ThreadStart { .. } => Some(RowKind::ThreadStart),
        What::ThreadEnd => Some(RowKind::ThreadEnd),
        What::ClassLoad { .. } => Some(RowKind::ClassLoad),
        What::ClassUnload { .. } => Some(RowKind::ClassUnload),
        What::VmStart { .. } => Some(RowKind::VmStart),
        What::VmEnd => Some(RowKind::VmEnd),
        What::Enter { .. }
        | What::Exit { .. }
        | What::Objects { .. }
        | What::Result { .. }
        | What::Arguments { .. }
        | What::Returned { .. }
        | What::ContendedEnter { .. }
        | What::ContendedEntered { .. }
        | What::Wait { .. }
        | What::Waited { .. }
        | What::GcStart
        | What::GcEnd => None,
    }
}

/// The name of a closing in queries and exports.
pub fn ended(closing: Closing) -> &'static str {
    match closing {
        Closing::Ended => "returned",
        Closing::Thrown => "thrown",
        Closing::Unwound => "lost",
        Closing::Open => "open",
    }
}

impl Row {
    /// The kind of the row.
    pub fn kind(&self) -> RowKind {
        match &self.what {
            RowWhat::Span(Node::Call { .. }) => RowKind::Call,
            RowWhat::Span(Node::Contended { .. }) => RowKind::Contended,
            RowWhat::Span(Node::Waiting { .. }) => RowKind::Wait,
            RowWhat::Span(Node::Collection) => RowKind::Gc,
            RowWhat::Point(what) => {
                point_kind(what).expect("only events without a duration are rows by themselves")
            }
        }
    }

    /// The method that was called.
    pub fn method(&self) -> Option<u32> {
        match self.what {
            RowWhat::Span(Node::Call { method }) => Some(method),
            _ => None,
        }
    }

    /// The class of its object, or the class that was loaded, but not that of a method.
    pub fn class(&self) -> Option<u32> {
        match &self.what {
            RowWhat::Span(Node::Contended { class, .. } | Node::Waiting { class, .. }) => {
                Some(*class)
            }
            RowWhat::Span(_) => None,
            RowWhat::Point(what) => what.class(),
        }
    }

    /// The number of the object that was waited for, allocated or released. `None` if unknown.
    pub fn object(&self) -> Option<u64> {
        let object = match self.what {
            RowWhat::Span(Node::Contended { object, .. } | Node::Waiting { object, .. })
            | RowWhat::Point(What::Allocation { object, .. } | What::Release { object }) => object,
            _ => 0,
        };
        (object > 0).then_some(object)
    }

    /// The row's name as it is shown: `Class.method`, `Class#7`, or the name of a thread or class.
    pub fn name(&self, trace: &Trace) -> String {
        if let Some(method) = self.method() {
            return trace.method_name(method);
        }
        let of_object = |class: u32| match self.object() {
            Some(object) => format!("{}#{object}", trace.class_name(class)),
            None => trace.class_name(class).to_owned(),
        };
        match (&self.what, self.class()) {
            (_, Some(class)) => of_object(class),
            (RowWhat::Span(_), None) => "garbage collection".to_owned(),
            (RowWhat::Point(What::ThreadStart { name, .. }), None) => name.clone(),
            (RowWhat::Point(What::VmStart { machine }), None) => machine.clone(),
            (RowWhat::Point(What::Release { object }), None) => format!("#{object}"),
            (RowWhat::Point(_), None) => String::new(),
        }
    }
}
