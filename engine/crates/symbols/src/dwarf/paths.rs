//! The file names of line tables as paths: joins and normalises compilation directory, include directory and name.

use std::path::Path;

/// Joins the compilation directory, the include directory and the file name. An absolute one replaces what precedes it.
pub(crate) fn join(folder: &str, directory: &str, name: &str) -> String {
    let mut path = String::with_capacity(folder.len() + directory.len() + name.len() + 2);
    for part in [folder, directory, name] {
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    clean(&path)
}

/// Removes `.` and `..` lexically.
pub(crate) fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

/// The path without symbolic links, if the file exists, so that a file has one name whatever links lead to it.
pub(crate) fn on_disk(path: String) -> String {
    match Path::new(&path).canonicalize() {
        Ok(real) if path.starts_with('/') => real.into_os_string().into_string().unwrap_or(path),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn paths_are_joined_and_cleaned() {
        let table = [
            ("/w/build", "", "../a.c", "/w/a.c"),
            (
                "/w/build",
                "/usr/include",
                "stdio.h",
                "/usr/include/stdio.h",
            ),
            ("/w", "src", "./x//y.c", "/w/src/x/y.c"),
            ("/w", "src", "/abs.c", "/abs.c"),
            ("/", "..", "a.c", "/a.c"),
            ("", "", "a.c", "a.c"),
            (".", "../x", "a.c", "../x/a.c"),
        ];
        for (folder, directory, name, expected) in table {
            assert_eq!(join(folder, directory, name), expected);
        }
    }
}
