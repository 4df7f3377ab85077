//! Recognises the files of event libraries.

use crate::process::file_name;

/// Prefixes of the file names of event libraries and of libraries based on them. Functions that they call of their own are
/// no handlers of the program.
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
