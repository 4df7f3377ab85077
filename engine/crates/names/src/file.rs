//! Opens modules and their separate debug files, which are found by build id or debug link.

use std::fs::File;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection as _, ReadCache, ReadRef, SectionFlags, elf};

/// Where distributions install separate debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// Why a file cannot be used. `Display` is one sentence that says what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file is not an ELF file for this machine.
    NotElf(String),
    /// The file contradicts itself.
    Damaged(String),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Unreadable(text) | FileError::NotElf(text) | FileError::Damaged(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for FileError {}

/// Reads a file piece by piece and caches the pieces.
pub type Cache<'a> = &'a ReadCache<File>;

/// The error for a file that cannot be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> FileError {
    FileError::Unreadable(format!("cannot read {}: {error}", path.display()))
}

/// Opens a regular file.
///
/// # Errors
/// When it cannot be opened or is not a regular file.
pub fn open(path: &Path) -> Result<ReadCache<File>, FileError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(FileError::NotElf(format!(
            "cannot read debug information from {}: it is not a regular file; give an executable",
            path.display()
        )));
    }
    Ok(ReadCache::new(file))
}

/// Reads the headers of an ELF file for this machine.
///
/// # Errors
/// When it is not such a file, or is damaged.
pub fn parse<'a>(
    path: &Path,
    cache: &'a ReadCache<File>,
) -> Result<object::File<'a, &'a ReadCache<File>>, FileError> {
    let mut magic = [0; 4];
    if let Ok(bytes) = cache.read_bytes_at(0, 4) {
        magic.copy_from_slice(bytes);
    }
    if magic != elf::ELFMAG {
        return Err(FileError::NotElf(format!(
            "cannot read debug information from {}: it is not an ELF file; give an executable",
            path.display()
        )));
    }
    let module = object::File::parse(cache).map_err(|error| {
        FileError::Damaged(format!(
            "cannot read the ELF headers of {}: {error}; build it again",
            path.display()
        ))
    })?;
    if module.is_little_endian() != cfg!(target_endian = "little") {
        return Err(FileError::NotElf(format!(
            "cannot read debug information from {}: it is built for another machine; build it for this one",
            path.display()
        )));
    }
    Ok(module)
}

/// Whether a file has debug information of its own.
pub fn has_line_table<'a>(module: &impl Object<'a>) -> bool {
    module
        .section_by_name(".debug_line")
        .is_some_and(|section| section.size() > 0)
        && module
            .section_by_name(".debug_info")
            .is_some_and(|section| section.size() > 0)
}

/// The separate debug file that belongs to this module, if one is installed: build id first, then debug link.
pub fn separate<'a>(path: &Path, module: &impl Object<'a>) -> Option<PathBuf> {
    let by_id = module
        .build_id()
        .ok()
        .flatten()
        .filter(|id| id.len() > 2)
        .map(|id| {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            PathBuf::from(format!(
                "{DEBUG_ROOT}/.build-id/{}/{}.debug",
                &hex[..2],
                &hex[2..]
            ))
        });
    let mut candidates: Vec<PathBuf> = by_id.into_iter().collect();
    // The name that `objcopy --only-keep-debug` is used with, without a link. Only the build id shows that it belongs here.
    if module.build_id().ok().flatten().is_some() {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".debug");
        candidates.push(beside.into());
    }
    if let Ok(Some((name, _checksum))) = module.gnu_debuglink() {
        let name = String::from_utf8_lossy(name).into_owned();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(folder) = path.parent() {
            candidates.push(folder.join(&name));
            candidates.push(folder.join(".debug").join(&name));
            let below = folder.strip_prefix("/").unwrap_or(folder);
            candidates.push(Path::new(DEBUG_ROOT).join(below).join(&name));
        }
    }
    let own_id = module.build_id().ok().flatten();
    candidates.into_iter().find(|candidate| {
        let Ok(cache) = open(candidate) else {
            return false;
        };
        let Ok(debug) = parse(candidate, &cache) else {
            return false;
        };
        // A debug file of another build has other lines.
        has_line_table(&debug) && debug.build_id().ok().flatten() == own_id
    })
}

/// The sorted address ranges of code. Code that the linker dropped is outside of them.
pub struct Code(Vec<(u64, u64)>);

impl Code {
    /// The ranges of a module.
    pub fn of<'a>(module: &impl Object<'a>) -> Code {
        let mut ranges: Vec<(u64, u64)> = module
            .sections()
            .filter(|section| match section.flags() {
                SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(elf::SHF_EXECINSTR),
                _ => false,
            })
            .filter(|section| section.address() != 0 && section.size() != 0)
            .map(|section| {
                (
                    section.address(),
                    section.address().saturating_add(section.size()),
                )
            })
            .collect();
        ranges.sort_unstable();
        Code(ranges)
    }

    /// The end of the code section that contains this address.
    pub fn end_of(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|&(start, _)| start <= address);
        let &(_, end) = self.0[..after].last()?;
        (address < end).then_some(end)
    }
}
