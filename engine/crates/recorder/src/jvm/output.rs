//! Where a filter wants the log to be: its `output FILE`.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use fulcrum_filter::Filter;
use fulcrum_wire::log::LOG_MAGIC;

use crate::Error;

/// The path, at which there is nothing now, for the agent to link its log to. `None` when the filter names none.
pub fn wanted(filter: &str, cwd: &Path) -> Result<Option<PathBuf>, Error> {
    let filter = Filter::parse(filter)
        .map_err(|error| Error::CannotRecord(format!("the filter is wrong at {error}")))?;
    let Some(output) = filter.output else {
        return Ok(None);
    };
    let output = cwd.join(output);
    make_way(&output)?;
    Ok(Some(output))
}

/// A log that an earlier run put there goes; any other file stays, and is an error.
fn make_way(output: &Path) -> Result<(), Error> {
    let shown = output.display();
    let cannot = |what: &str| {
        Error::CannotRecord(format!(
            "the filter wants its output at {shown}, where {what}"
        ))
    };
    let mut start = [0; 8];
    match fs::File::open(output).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) if start == LOG_MAGIC.to_le_bytes() => fs::remove_file(output)
            .map_err(|error| cannot(&format!("an earlier log cannot be removed: {error}"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = output.parent().unwrap_or(output);
            fs::create_dir_all(folder)
                .map_err(|error| cannot(&format!("no folder can be made: {error}")))
        }
        Ok(()) | Err(_) => Err(cannot(
            "something is that is no event log: move it away, or name another file",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_logs_are_replaced_and_nothing_else_is() {
        let folder = std::env::temp_dir().join(format!("fulcrum-output-{}", std::process::id()));
        let file = folder.join("a/log.bin");
        assert_eq!(wanted("observe_class_loading\n", &folder).unwrap(), None);
        let wanted = || wanted("output a/log.bin\n", &folder);
        assert_eq!(wanted().unwrap(), Some(file.clone()));
        fs::write(&file, [&LOG_MAGIC.to_le_bytes()[..], b"more"].concat()).unwrap();
        assert_eq!(wanted().unwrap(), Some(file.clone()));
        assert!(!file.exists());
        for other in ["no log, and longer", "short"] {
            fs::write(&file, other).unwrap();
            let Err(Error::CannotRecord(why)) = wanted() else {
                panic!("{other}")
            };
            assert!(why.ends_with("move it away, or name another file"), "{why}");
            assert_eq!(fs::read_to_string(&file).unwrap(), other);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
