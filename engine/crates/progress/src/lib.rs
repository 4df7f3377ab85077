//! Progress points for Fulcrum, the causal profiler, in Rust programs.
//!
//! Put [`progress!`] where a unit of work is done, or [`scope!`] (or [`begin!`] and [`end!`]) around a request whose latency
//! matters. Run the program under `fulcrum run`, or any profiler that defines coz's `_coz_get_counter`. Without a profiler, a
//! visit does nothing and costs one relaxed atomic addition. On systems other than Linux, it costs nothing.
//!
//! ```
//! fn serve(requests: &[u32]) -> u32 {
//!     let mut sum = 0;
//!     for request in requests {
//!         let _request = fulcrum_progress::scope!("request"); // its latency, until the end of this block
//!         sum += request;
//!         fulcrum_progress::progress!("served"); // how many a second
//!     }
//!     sum
//! }
//! assert_eq!(serve(&[1, 2, 3]), 6);
//! ```
//!
//! Names are literals. Places with the same name and kind count together.

#![no_std]

mod site;

#[doc(hidden)]
pub use site::{ProgressPointKind, Scope, Site};

/// A unit of work ends here. Its name is its file and line, or the given literal.
///
/// ```
/// fulcrum_progress::progress!();
/// fulcrum_progress::progress!("page rendered");
/// ```
#[macro_export]
macro_rules! progress {
    () => {
        $crate::visit_!(Throughput, concat!(file!(), ":", line!()))
    };
    ($name:literal) => {
        $crate::visit_!(Throughput, $name)
    };
}

/// A request begins here. [`end!`] with the same name ends it, on any thread.
///
/// ```
/// fulcrum_progress::begin!("query");
/// fulcrum_progress::end!("query");
/// ```
#[macro_export]
macro_rules! begin {
    ($name:literal) => {
        $crate::visit_!(Begin, $name)
    };
}

/// A request that [`begin!`] began ends here.
#[macro_export]
macro_rules! end {
    ($name:literal) => {
        $crate::visit_!(End, $name)
    };
}

/// A request begins here and ends when the guard is dropped: at the end of the block, on `?`, or in a panic.
///
/// ```
/// fn handle(input: &str) -> Result<u32, std::num::ParseIntError> {
///     let _guard = fulcrum_progress::scope!("handle");
///     let number: u32 = input.parse()?; // ends the request as well
///     Ok(number + 1)
/// }
/// assert_eq!(handle("1"), Ok(2));
/// assert!(handle("one").is_err());
/// ```
#[macro_export]
macro_rules! scope {
    ($name:literal) => {{
        static BEGIN: $crate::Site =
            $crate::Site::new($crate::ProgressPointKind::Begin, concat!($name, "\0"));
        static END: $crate::Site =
            $crate::Site::new($crate::ProgressPointKind::End, concat!($name, "\0"));
        $crate::Scope::begin(&BEGIN, &END)
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! visit_ {
    ($kind:ident, $($name:tt)*) => {{
        static SITE: $crate::Site = $crate::Site::new($crate::ProgressPointKind::$kind, concat!($($name)*, "\0"));
        SITE.visit();
    }};
}
