//! The state of a replay: processes, threads, streams and requests, and the [`World`](world::World) that contains them.

pub(super) mod direction;
pub(super) mod doing;
pub(super) mod handlers;
pub(super) mod library_files;
pub(super) mod process;
pub(super) mod request;
pub(super) mod thread;
pub(super) mod wait;
pub(super) mod world;
