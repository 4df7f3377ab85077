//! Names for requests, from the first bytes of a message: `GET /buy`, `SELECT item`, `redis GET`.
//!
//! A recogniser never fails: what it does not know has no name. Names say what kind of request it is and nothing of whose:
//! no query string, no value, no key. The trace that a request says to belong to is read from the same bytes.

mod caches;
mod databases;
mod http;
mod limits;
mod route;
mod sql;
mod tokens;
mod trace_context;

pub use limits::LOOK;
pub use trace_context::Traced;

/// Whether requests are named by what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recognition {
    /// They are.
    #[default]
    On,
    /// They are not: the contents of messages are not looked at.
    Off,
}

impl Recognition {
    /// The name of a request that begins with these bytes. `None`: it is of no known protocol, or more bytes are needed.
    pub fn name(self, bytes: &[u8]) -> Option<String> {
        if self == Recognition::Off {
            return None;
        }
        let bytes = &bytes[..bytes.len().min(LOOK)];
        // HTTP comes first: `POST` would be a message of PostgreSQL, of a gigabyte.
        http::name(bytes)
            .or_else(|| databases::postgres(bytes))
            .or_else(|| databases::mysql(bytes))
            .or_else(|| caches::redis(bytes))
            .or_else(|| caches::memcached(bytes))
    }

    /// What a request that begins with these bytes says of the trace that it belongs to.
    pub fn traced(self, bytes: &[u8]) -> Traced {
        match self {
            Recognition::On => trace_context::traced(&bytes[..bytes.len().min(LOOK)]),
            Recognition::Off => Traced::Nothing,
        }
    }
}
