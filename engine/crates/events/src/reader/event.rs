//! Events.

use fulcrum_wire::log::{Body, Damage, Payload, Record, kind, result, thread_flag};

use crate::values::{self, Arguments, Value};

/// An event: something that a thread did, or that happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread's number in the log.
    pub thread: u32,
    /// The time, in nanoseconds since the log's start.
    pub wall_ns: u64,
    /// The thread's CPU time since its start, in nanoseconds. `None` if the log does not have it.
    pub cpu_ns: Option<u64>,
    /// The number of calls since the thread's last event whose probes fired without logging them.
    pub skipped: u64,
    /// The number of logged calls since then that a filter left out ([`crate::Trace::set_filter`]).
    pub filtered: u64,
    /// What happened.
    pub what: What,
}

/// What happened. Methods and classes are numbers in the trace's dictionary. Objects are numbers, too; 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields say what they are; units are in their names"
)]
pub enum What {
    /// A method was entered.
    Enter { method: u32 },
    /// A method was left, by an exception or not.
    Exit { method: u32, thrown: bool },
    /// The objects of the call that was entered just before: the receiver, and the first object argument (0 for `null` or none).
    Objects {
        method: u32,
        receiver: u64,
        argument: u64,
    },
    /// The object or Boolean that the call returns that is left next.
    Result { method: u32, value: Returned },
    /// The arguments of the call that was entered just before.
    Arguments { method: u32, given: Arguments },
    /// The value that the call returns that is left next.
    Returned { method: u32, value: Value },
    /// The thread began. `parent` is the thread that started it, or 0 if unknown.
    ThreadStart {
        name: String,
        group: String,
        parent: u32,
        daemon: bool,
        virtual_thread: bool,
        /// Whether it was already running when the log began.
        earlier: bool,
    },
    /// The thread ended.
    ThreadEnd,
    /// The thread begins to wait for a monitor that another thread owns.
    ContendedEnter { object: u64, class: u32 },
    /// The thread has got that monitor.
    ContendedEntered { object: u64, class: u32 },
    /// `Object.wait` begins, with a time limit in milliseconds or 0.
    Wait {
        object: u64,
        class: u32,
        timeout_ms: u64,
    },
    /// `Object.wait` has ended.
    Waited {
        object: u64,
        class: u32,
        timed_out: bool,
    },
    /// An object was allocated. `interval` is the sampling interval in bytes, or 0 if every allocation is logged.
    Allocation {
        object: u64,
        class: u32,
        bytes: u64,
        interval: u64,
    },
    /// An object was released by the garbage collector.
    Release { object: u64 },
    /// A garbage collection begins.
    GcStart,
    /// A garbage collection has ended.
    GcEnd,
    /// A class was loaded; `probed` of its methods have probes.
    ClassLoad { class: u32, probed: u64 },
    /// A class was unloaded.
    ClassUnload { class: u32 },
    /// The virtual machine has started, with its name and version.
    VmStart { machine: String },
    /// The virtual machine ends.
    VmEnd,
}

/// What a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// An object's number, 0 for `null`.
    Object(u64),
    /// A Boolean.
    Boolean(bool),
}

impl What {
    /// The event's name, as `fulcrum events list` prints it.
    pub fn name(&self) -> &'static str {
        match self {
            What::Enter { .. } => "enter",
            What::Exit { thrown: false, .. } => "exit",
            What::Exit { thrown: true, .. } => "thrown",
            What::Objects { .. } => "objects",
            What::Result { .. } => "result",
            What::Arguments { .. } => "arguments",
            What::Returned { .. } => "returned",
            What::ThreadStart { .. } => "threadStart",
            What::ThreadEnd => "threadEnd",
            What::ContendedEnter { .. } => "contendedEnter",
            What::ContendedEntered { .. } => "contendedEntered",
            What::Wait { .. } => "wait",
            What::Waited { .. } => "waited",
            What::Allocation { .. } => "allocation",
            What::Release { .. } => "release",
            What::GcStart => "gcStart",
            What::GcEnd => "gcEnd",
            What::ClassLoad { .. } => "classLoad",
            What::ClassUnload { .. } => "classUnload",
            What::VmStart { .. } => "vmStart",
            What::VmEnd => "vmEnd",
        }
    }

    /// The event's method.
    pub fn method(&self) -> Option<u32> {
        match self {
            What::Enter { method }
            | What::Exit { method, .. }
            | What::Objects { method, .. }
            | What::Result { method, .. }
            | What::Arguments { method, .. }
            | What::Returned { method, .. } => Some(*method),
            _ => None,
        }
    }

    /// The event's class, or that of its object. `None` for methods, whose class is in the dictionary.
    pub fn class(&self) -> Option<u32> {
        match self {
            What::ContendedEnter { class, .. }
            | What::ContendedEntered { class, .. }
            | What::Wait { class, .. }
            | What::Waited { class, .. }
            | What::Allocation { class, .. }
            | What::ClassLoad { class, .. }
            | What::ClassUnload { class } => Some(*class),
            _ => None,
        }
    }
}

/// Decodes a record. `None` for definitions, notes and kinds that this version does not know.
pub(crate) fn what(record: &Record<'_>) -> Result<Option<What>, Damage> {
    let payload = match record.body {
        Body::Method(method) => {
            return Ok(Some(match record.kind {
                kind::ENTER => What::Enter { method },
                kind => What::Exit {
                    method,
                    thrown: kind == kind::THROWN,
                },
            }));
        }
        Body::Payload(payload) => payload,
    };
    let mut fields = Payload(payload);
    Ok(Some(match record.kind {
        kind::OBJECTS => What::Objects {
            method: small(&mut fields)?,
            receiver: fields.number()?,
            argument: fields.number()?,
        },
        kind::RESULT => What::Result {
            method: small(&mut fields)?,
            value: match (fields.number()?, fields.number()?) {
                (result::OBJECT, object) => Returned::Object(object),
                (result::BOOLEAN, value) => Returned::Boolean(value != 0),
                // Of a later version.
                _ => return Ok(None),
            },
        },
        kind::ARGUMENTS => {
            let method = small(&mut fields)?;
            match values::read_arguments(&mut fields)? {
                Some(given) => What::Arguments { method, given },
                None => return Ok(None),
            }
        }
        kind::RETURNED => {
            let method = small(&mut fields)?;
            match values::read(&mut fields)? {
                Some(value) => What::Returned { method, value },
                None => return Ok(None),
            }
        }
        kind::THREAD_START => {
            let (parent, flags) = (small(&mut fields)?, fields.number()?);
            What::ThreadStart {
                parent,
                daemon: flags & thread_flag::DAEMON != 0,
                virtual_thread: flags & thread_flag::VIRTUAL != 0,
                earlier: flags & thread_flag::EARLIER != 0,
                name: text(&mut fields)?,
                group: text(&mut fields)?,
            }
        }
        kind::THREAD_END => What::ThreadEnd,
        kind::CONTENDED_ENTER => What::ContendedEnter {
            object: fields.number()?,
            class: small(&mut fields)?,
        },
        kind::CONTENDED_ENTERED => What::ContendedEntered {
            object: fields.number()?,
            class: small(&mut fields)?,
        },
        kind::WAIT => What::Wait {
            object: fields.number()?,
            class: small(&mut fields)?,
            timeout_ms: fields.number()?,
        },
        kind::WAITED => What::Waited {
            object: fields.number()?,
            class: small(&mut fields)?,
            timed_out: fields.number()? != 0,
        },
        kind::ALLOCATION => What::Allocation {
            object: fields.number()?,
            class: small(&mut fields)?,
            bytes: fields.number()?,
            interval: fields.number()?,
        },
        kind::RELEASE => What::Release {
            object: fields.number()?,
        },
        kind::GC_START => What::GcStart,
        kind::GC_END => What::GcEnd,
        kind::CLASS_LOAD => What::ClassLoad {
            class: small(&mut fields)?,
            probed: fields.number()?,
        },
        kind::CLASS_UNLOAD => What::ClassUnload {
            class: small(&mut fields)?,
        },
        kind::VM_START => What::VmStart {
            machine: text(&mut fields)?,
        },
        kind::VM_END => What::VmEnd,
        _ => return Ok(None),
    }))
}

/// Reads a 32-bit number.
pub(crate) fn small(fields: &mut Payload<'_>) -> Result<u32, Damage> {
    u32::try_from(fields.number()?).map_err(|_| Damage::Bad)
}

/// Reads a text. Names in class files need not be valid UTF-8.
pub(crate) fn text(fields: &mut Payload<'_>) -> Result<String, Damage> {
    Ok(String::from_utf8_lossy(fields.text()?).into_owned())
}
