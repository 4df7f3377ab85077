//! Numbers by which later requests name what an earlier answer told of. In JSON each is a plain number.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($number:ident);)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Default, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash, TS)]
            pub struct $name(pub $number);

            // The plain number: labels of folded traces are kept under a name that this is a part of.
            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.0, f)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(&self.0, f)
                }
            }
        )*
    };
}

ids! {
    /// An open navigator; the server gives the number.
    NavigatorId(u32);
    /// An open event trace; the server gives the number.
    TraceId(u32);
    /// A thread of a trace, as its log numbers it.
    ThreadId(u32);
    /// A node of a thread's event tree: the number of the event that began it, within its thread.
    NodeId(u64);
    /// A method of a trace, as its log numbers it.
    MethodId(u32);
}
