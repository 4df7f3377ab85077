//! Which files are libraries of events.

use crate::process::file_name;

/// How the files begin that are libraries of events, or built on such: what they call of their own is no handler of the program's.
const LIBRARIES: [&str; 8] = [
    "libevent-",
    "libevent_",
    "libuv.so",
    "libev.so",
    "libglib-2.0.so",
    "libgobject-2.0.so",
    "libgio-2.0.so",
    "libgthread-2.0.so",
];

/// Whether a file is such a library.
pub(in crate::replay) fn is_library(file: &str) -> bool {
    let name = file_name(file);
    LIBRARIES.iter().any(|it| name.starts_with(it))
}
