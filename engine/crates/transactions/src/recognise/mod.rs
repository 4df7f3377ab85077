//! Names for requests, from the first bytes of a message: `GET /buy`, `SELECT item`, `redis GET`.
//!
//! Recognition never fails: an unknown message has no name. A name says what kind of request it is, and nothing about
//! whose: no query string, no value, no key. The trace that a request belongs to is read from the same bytes.

mod caches;
mod databases;
mod http;
mod limits;
mod route;
mod sql;
mod tokens;
mod trace_context;

pub use limits::EXAMINED;
pub use trace_context::Traced;

/// Whether requests are named by their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recognition {
    /// Requests are named.
    #[default]
    On,
    /// Requests are not named: the content of messages is not examined.
    Off,
}

impl Recognition {
    /// The name of a request that begins with these bytes, or `None` if the protocol is unknown or more bytes are needed.
    pub fn name(self, bytes: &[u8]) -> Option<String> {
        if self == Recognition::Off {
            return None;
        }
        let bytes = &bytes[..bytes.len().min(EXAMINED)];
        // HTTP first: to PostgreSQL, `POST` would start a message of a gigabyte.
        http::name(bytes)
            .or_else(|| databases::postgres(bytes))
            .or_else(|| databases::mysql(bytes))
            .or_else(|| caches::redis(bytes))
            .or_else(|| caches::memcached(bytes))
    }

    /// The trace context in a request that begins with these bytes.
    pub fn traced(self, bytes: &[u8]) -> Traced {
        match self {
            Recognition::On => trace_context::traced(&bytes[..bytes.len().min(EXAMINED)]),
            Recognition::Off => Traced::Nothing,
        }
    }
}
