//! What records change in the [`World`](super::state::world::World), by the kind of record.

mod arrivals;
mod flows;
mod libraries;
mod messages;
mod registrations;
mod requests;
mod scope;
mod spans;
mod traces;
mod virtual_machines;
mod waits;
mod windows;
