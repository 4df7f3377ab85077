//! The `output FILE` of a filter: where to link the log to.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use fulcrum_filter::Filter;
use fulcrum_wire::log::LOG_MAGIC;

use crate::Error;

/// The path to which the agent links its log, where no file is left. `None` when the filter names none.
pub(crate) fn link_for_log(filter: &str, cwd: &Path) -> Result<Option<PathBuf>, Error> {
    let filter = Filter::parse(filter)
        .map_err(|error| Error::CannotRecord(format!("the filter is wrong at {error}")))?;
    let Some(output) = filter.output else {
        return Ok(None);
    };
    let output = cwd.join(output);
    remove_earlier_log(&output)?;
    Ok(Some(output))
}

/// Removes the log of an earlier run. Any other file is left there, and is an error.
fn remove_earlier_log(output: &Path) -> Result<(), Error> {
    let shown = output.display();
    let cannot = |what: &str| {
        Error::CannotRecord(format!(
            "the filter names {shown} as its output, where {what}"
        ))
    };
    let mut start = [0; 8];
    match fs::File::open(output).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) if start == LOG_MAGIC.to_le_bytes() => fs::remove_file(output)
            .map_err(|error| cannot(&format!("an earlier log cannot be removed: {error}"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = output.parent().unwrap_or(output);
            fs::create_dir_all(folder)
                .map_err(|error| cannot(&format!("no folder can be created: {error}")))
        }
        Ok(()) | Err(_) => Err(cannot(
            "there is a file that is not an event log: move it away, or name another file",
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
        assert_eq!(
            link_for_log("observe_class_loading\n", &folder).unwrap(),
            None
        );
        let link = || link_for_log("output a/log.bin\n", &folder);
        assert_eq!(link().unwrap(), Some(file.clone()));
        fs::write(&file, [&LOG_MAGIC.to_le_bytes()[..], b"more"].concat()).unwrap();
        assert_eq!(link().unwrap(), Some(file.clone()));
        assert!(!file.exists());
        for other in ["no log, and longer", "short"] {
            fs::write(&file, other).unwrap();
            let Err(Error::CannotRecord(why)) = link() else {
                panic!("{other}")
            };
            assert!(why.ends_with("move it away, or name another file"), "{why}");
            assert_eq!(fs::read_to_string(&file).unwrap(), other);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
