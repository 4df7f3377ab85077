//! Finds out before a program is started whether the runtime can be loaded into it.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, ReadCache, elf};

use crate::SymbolsError;
use crate::elf::file;

/// What kind of file a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutableKind {
    /// An executable with a dynamic loader: the runtime can be loaded into it.
    Dynamic,
    /// An executable without a dynamic loader.
    Static,
    /// A `#!` script, with its interpreter.
    Script(String),
    /// Runs with other rights than the caller's, so the loader ignores `LD_PRELOAD`.
    Setuid,
    /// Not a program, such as a folder, a library or a program for another machine, with the reason.
    NotExecutable(String),
}

/// What is known about a program before it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// What kind of file it is.
    pub kind: ExecutableKind,
    /// Whether it has line tables, in the file itself or by build id or debug link.
    pub has_debug_info: bool,
    /// Whether it was built by Go, whose threads and locks bypass libc.
    pub go: bool,
    /// The name of the ELF machine, such as "x86-64". Empty for other files.
    pub machine: String,
}

impl Executable {
    /// Why the runtime cannot profile this program and what to do, in one sentence. `None` if it can.
    pub fn refusal(&self, path: &Path) -> Option<String> {
        let path = path.display();
        match &self.kind {
            ExecutableKind::NotExecutable(why) => Some(format!("cannot run {path}: {why}")),
            ExecutableKind::Script(interpreter) => Some(format!(
                "cannot profile {path}: it is a script for {interpreter}; give the native program that it starts"
            )),
            ExecutableKind::Setuid => Some(format!(
                "cannot profile {path}: it runs with another user's rights, so the loader keeps the runtime out; \
                 copy it without the setuid bit or run as its owner"
            )),
            _ if self.go => Some(format!(
                "cannot profile {path}: it was built by Go, whose scheduler bypasses libc's threads; \
                 Fulcrum profiles C, C++ and Rust programs"
            )),
            ExecutableKind::Static => Some(format!(
                "cannot profile {path}: it is linked statically, so the runtime cannot be loaded into it; \
                 link it without -static"
            )),
            ExecutableKind::Dynamic if !self.has_debug_info => {
                Some(format!("{path} has no debug information: compile with -g"))
            }
            ExecutableKind::Dynamic => None,
        }
    }
}

/// Inspects a program file without running it.
///
/// # Errors
/// When the file cannot be read.
pub fn executable_kind(path: &Path) -> Result<Executable, SymbolsError> {
    let not = |why: &str| Executable {
        kind: ExecutableKind::NotExecutable(why.into()),
        has_debug_info: false,
        go: false,
        machine: String::new(),
    };
    let metadata = path
        .metadata()
        .map_err(|error| file::unreadable(path, &error))?;
    if metadata.is_dir() {
        return Ok(not("it is a folder; give a program inside it"));
    }
    if !metadata.is_file() {
        return Ok(not("it is not a regular file; give an executable file"));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Ok(not(
            "it is not executable; give an executable file or chmod +x it",
        ));
    }
    let opened = File::open(path).map_err(|error| file::unreadable(path, &error))?;
    let mut start = Vec::with_capacity(256);
    (&opened)
        .take(256)
        .read_to_end(&mut start)
        .map_err(|error| file::unreadable(path, &error))?;
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or(line);
        let interpreter = String::from_utf8_lossy(line).trim().to_owned();
        return Ok(Executable {
            kind: ExecutableKind::Script(interpreter),
            ..not("")
        });
    }
    if !start.starts_with(&elf::ELFMAG) {
        return Ok(not("it is not an ELF executable; give a native program"));
    }
    Ok(
        elf_kind(path, &ReadCache::new(opened), Rights::of(&metadata))
            .unwrap_or_else(|| not("its ELF headers are damaged; build it again")),
    )
}

/// Whether the dynamic symbols of a program or library show that it was built with `-finstrument-functions`.
pub fn is_instrumented(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache);
    parsed.is_ok_and(|file| {
        file.dynamic_symbols()
            .any(|symbol| symbol.name() == Ok("__cyg_profile_func_enter"))
    })
}

/// With whose rights a program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rights {
    Callers,
    /// Starting it changes user or group, so the loader ignores `LD_PRELOAD`.
    Others,
}

impl Rights {
    fn of(metadata: &std::fs::Metadata) -> Rights {
        let Ok(own) = Path::new("/proc/self").metadata() else {
            return Rights::Callers;
        };
        let mode = metadata.mode();
        let user = mode & 0o4000 != 0 && metadata.uid() != own.uid();
        let group = mode & 0o2010 == 0o2010 && metadata.gid() != own.gid();
        match user || group {
            true => Rights::Others,
            false => Rights::Callers,
        }
    }
}

fn elf_kind(path: &Path, cache: &ReadCache<File>, rights: Rights) -> Option<Executable> {
    let header = elf::FileHeader64::<Endianness>::parse(cache);
    let Ok(header) = header else {
        let narrow = elf::FileHeader32::<Endianness>::parse(cache).ok()?;
        let machine = machine_name(narrow.e_machine(narrow.endian().ok()?));
        return Some(other_machine(&format!("32-bit {machine}")));
    };
    let endian = header.endian().ok()?;
    let machine = machine_name(header.e_machine(endian));
    if machine != host_machine() {
        return Some(other_machine(&machine));
    }
    let segments = header.program_headers(endian, cache).ok()?;
    let interpreted = segments.iter().any(|s| s.p_type(endian) == elf::PT_INTERP);
    let parsed = object::File::parse(cache).ok()?;
    let kind = match header.e_type(endian) {
        elf::ET_EXEC | elf::ET_DYN if rights == Rights::Others => ExecutableKind::Setuid,
        elf::ET_EXEC | elf::ET_DYN if interpreted => ExecutableKind::Dynamic,
        elf::ET_EXEC => ExecutableKind::Static,
        elf::ET_DYN if is_static_pie(&parsed) => ExecutableKind::Static,
        elf::ET_DYN => ExecutableKind::NotExecutable(
            "it is a shared library; give a program that uses it".into(),
        ),
        elf::ET_REL => ExecutableKind::NotExecutable("it is an object file; link it first".into()),
        _ => ExecutableKind::NotExecutable("it is not an executable; give a native program".into()),
    };
    let go = parsed.section_by_name(".go.buildinfo").is_some()
        || parsed.section_by_name(".note.go.buildid").is_some();
    let has_debug_info = file::has_line_table(&parsed) || file::separate(path, &parsed).is_some();
    Some(Executable {
        kind,
        has_debug_info,
        go,
        machine,
    })
}

/// `DF_1_PIE` tells a position-independent executable from a library.
fn is_static_pie<'a>(parsed: &object::File<'a, &'a ReadCache<File>>) -> bool {
    let Some(dynamic) = parsed.section_by_name(".dynamic") else {
        return false;
    };
    let Ok(data) = dynamic.data() else {
        return false;
    };
    data.chunks_exact(16).any(|entry| {
        let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
        word(0) == elf::DT_FLAGS_1.0 as u64 && word(8) & elf::DF_1_PIE.0 != 0
    })
}

fn other_machine(machine: &str) -> Executable {
    Executable {
        kind: ExecutableKind::NotExecutable(format!(
            "it is built for {machine}, this machine is {}; build it for this machine",
            host_machine()
        )),
        has_debug_info: false,
        go: false,
        machine: machine.to_owned(),
    }
}

/// The name of this machine, as for ELF files.
pub(crate) fn host_machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "AArch64",
        other => other,
    }
}

fn machine_name(machine: elf::Machine) -> String {
    match machine {
        elf::EM_X86_64 => "x86-64".into(),
        elf::EM_AARCH64 => "AArch64".into(),
        elf::EM_386 => "x86".into(),
        elf::EM_ARM => "ARM".into(),
        elf::EM_RISCV => "RISC-V".into(),
        elf::Machine(other) => format!("ELF machine {other}"),
    }
}
