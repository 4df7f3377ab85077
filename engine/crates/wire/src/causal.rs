//! The records of a causal run, `causal-<pid>-<n>.jsonl` (`docs/formats.md`): which records there are, and their keys.
//!
//! A record is a JSON object on a line of its own. The runtime writes them, and the engine completes the stream of a process
//! that was killed; `fulcrum-causal-records` reads them. All of them take the names from here, so that a key that is written
//! and one that is read cannot differ.

/// The `format` that a stream's header names.
pub const FORMAT: &str = "fulcrum-causal";
/// The `version` that a stream's header names.
pub const VERSION: u64 = 1;

/// The key that says which record this is; its values are in [`kind`].
pub const TYPE: &str = "type";

/// The kinds of record.
pub mod kind {
    /// The first record of a stream.
    pub const HEADER: &str = "header";
    /// A finished experiment.
    pub const EXPERIMENT: &str = "experiment";
    /// A finished placebo, with the same keys.
    pub const PLACEBO: &str = "placebo";
    /// The samples of all targets so far: the last such record of a stream counts.
    pub const SAMPLES: &str = "samples";
    /// The last record of a stream.
    pub const END: &str = "end";
}

/// The values of [`Point::kind`].
pub mod count {
    /// Visits.
    pub const THROUGHPUT: &str = "throughput";
    /// Arrivals and departures.
    pub const LATENCY: &str = "latency";
}

/// Defines the keys of an object: a type with a field for each key, and its only value, in which each field holds its own
/// name.
macro_rules! keys {
    ($(#[$comment:meta])* $type:ident, $value:ident: $($key:ident)*) => {
        $(#[$comment])*
        #[derive(Debug)]
        pub struct $type {
            $(#[doc = concat!("`", stringify!($key), "`")] pub $key: &'static str,)*
        }

        $(#[$comment])*
        pub const $value: $type = $type { $($key: stringify!($key),)* };
    };
}

keys! {
    /// The keys of the header.
    Header, HEADER: format version pid program time period levels sampler target budget shared
}
keys! {
    /// The keys of an experiment and of a placebo.
    Experiment, EXPERIMENT: selected speedup duration selected_samples start wall pauses warmup half others queued weight
        points
}
keys! {
    /// The keys of a progress point in an experiment.
    Point, POINT: name kind delta arrivals departures difference pending half
}
keys! {
    /// The keys of a record of samples.
    Samples, SAMPLES: time delay rested total in_scope lines queued kernel calls holders
}
keys! {
    /// The keys of what a target did in one function.
    Call, CALL: at function processor whole
}
keys! {
    /// The keys of who held the locks that a target waited for.
    Holder, HOLDER: at by count
}
keys! {
    /// The keys of the last record.
    End, END: time delay rested reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_called_what_its_field_is_called() {
        assert_eq!(EXPERIMENT.selected_samples, "selected_samples");
        assert_eq!(SAMPLES.in_scope, "in_scope");
    }
}
