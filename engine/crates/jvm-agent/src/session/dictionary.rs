//! The numbers of methods and classes, and notes for the reader of the log.

use std::collections::HashMap;

use fulcrum_agent_core::clock;
use fulcrum_event_log::ThreadWriter;
use fulcrum_jvm_core::ClassFile;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

/// Numbers of methods and classes, and the stream that defines them.
pub(crate) struct Dictionary {
    stream: ThreadWriter,
    classes: HashMap<String, u32>,
    /// By class loader, class, name and descriptor: a class that is loaded again or changed keeps its numbers.
    methods: HashMap<(i32, String), u32>,
}

impl Dictionary {
    pub(crate) fn new(stream: ThreadWriter) -> Dictionary {
        Dictionary {
            stream,
            classes: HashMap::new(),
            methods: HashMap::new(),
        }
    }

    /// A class's number.
    pub(crate) fn class(&mut self, name: &str) -> u32 {
        if let Some(number) = self.classes.get(name) {
            return *number;
        }
        let number = self.classes.len() as u32 + 1;
        self.classes.insert(name.to_owned(), number);
        let payload = PayloadBuffer::default()
            .number(u64::from(number))
            .text(name);
        self.write(kind::DEFINE_CLASS, &payload);
        number
    }

    /// Writes a note.
    pub(crate) fn note(&mut self, text: &str) -> bool {
        self.write(kind::NOTE, &PayloadBuffer::default().text(text))
    }

    /// Writes the rule that shuts gates.
    pub(crate) fn rule(&mut self, text: &str) -> bool {
        self.write(kind::RULE, &PayloadBuffer::default().text(text))
    }

    /// Writes the sums of a method with a gate.
    pub(crate) fn counts(&mut self, payload: &PayloadBuffer) -> bool {
        self.write(kind::COUNTS, payload)
    }

    /// The number of the method at a place of a class.
    pub(crate) fn method(&mut self, loader: i32, class: &ClassFile<'_>, at: usize) -> u32 {
        let method = &class.methods[at];
        let class_name = class.name().replace('/', ".");
        let key = (
            loader,
            format!("{class_name}.{}{}", method.name, method.descriptor),
        );
        if let Some(number) = self.methods.get(&key) {
            return *number;
        }
        let number = self.methods.len() as u32 + 1;
        self.methods.insert(key, number);
        let payload = PayloadBuffer::default()
            .number(u64::from(number))
            .text(&class_name)
            .text(&method.name);
        let payload = payload
            .text(&method.descriptor)
            .text(&class.source())
            .number(u64::from(method.line));
        self.write(kind::DEFINE_METHOD, &payload);
        number
    }

    fn write(&mut self, kind: u8, payload: &PayloadBuffer) -> bool {
        self.stream.write(
            kind,
            clock::now().ticks,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        )
    }
}
