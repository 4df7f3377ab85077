//! How it is known what a handler is called for.

/// How it is known what a handler is called for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// It continues the thread's work: the library calls it within a handler of its own.
    #[default]
    Onward,
    /// The first argument is what was registered.
    First,
    /// The second argument is what was registered.
    Second,
    /// For libevent: all arguments together identify what was registered.
    Event,
    /// GLib tells what was registered.
    Source,
    /// The same, and the handler's result tells whether it is called again.
    SourceOnce,
    /// The first argument is what was registered, and what the library reads next is for its handler.
    Allocates,
    /// The first argument is what was registered. Its data was read after [`Kind::Allocates`].
    Reads,
    /// The first argument is what was registered. This work runs in a thread of the library, before another handler is
    /// called for the same object.
    Work,
    /// Within a handler of libevent's, it continues that handler's work. Otherwise the first argument tells what it
    /// continues.
    Buffered,
}

impl Kind {
    /// The kind with this number.
    pub(crate) fn of(number: u8) -> Kind {
        const ALL: [Kind; 10] = [
            Kind::Onward,
            Kind::First,
            Kind::Second,
            Kind::Event,
            Kind::Source,
            Kind::SourceOnce,
            Kind::Allocates,
            Kind::Reads,
            Kind::Work,
            Kind::Buffered,
        ];
        ALL.get(usize::from(number)).copied().unwrap_or_default()
    }
}
