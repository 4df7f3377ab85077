//! How it is known for what a handler is called.

/// How it is known for what a handler is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// It goes on with what the thread does: the library calls it within a handler of its own.
    #[default]
    Onward,
    /// The first argument is what was registered.
    First,
    /// The second one is.
    Second,
    /// One of libevent's: the arguments together are.
    Event,
    /// GLib says what is.
    Source,
    /// Likewise, and it is called once: what it returns says so.
    SourceOnce,
    /// The first argument is, and what the library reads next is for the handler of that.
    Allocates,
    /// The first argument is. What is for it has been read, after [`Kind::Allocates`].
    Reads,
    /// The first argument is. Work that a thread of the library does, before another handler is called for the same.
    Work,
    /// Within a handler of libevent's it goes on with that. Otherwise, the first argument is what it goes on with.
    Buffered,
}

impl Kind {
    /// The one of this number.
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
