//! Whether the runtime can enter a program at all, found out before it is started.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, ReadCache, elf};

use crate::SymbolsError;
use crate::file;

/// What kind of file a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutableKind {
    /// An executable with a dynamic loader: the runtime can enter it.
    Dynamic,
    /// An executable without one.
    Static,
    /// A `#!` script, with its interpreter.
    Script(String),
    /// Runs with other rights than the caller's: the loader ignores the preload.
    Setuid,
    /// No program, with the reason: a folder, a library, another machine's.
    NotExecutable(String),
}

/// What there is to know about a program before it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// What it is.
    pub kind: ExecutableKind,
    /// Whether line tables are there (in the file, by build id or by debug link).
    pub has_debug_info: bool,
    /// Built by Go, whose threads and locks do not pass through libc.
    pub go: bool,
    /// The ELF machine in words, "x86-64"; empty for other files.
    pub machine: String,
}

impl Executable {
    /// Why the runtime cannot profile this program and what to do; `None` when it can. One sentence.
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

/// Looks at a program file without running it. `Err` only when it cannot be read.
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
        elf_kind(path, &ReadCache::new(opened), runs_as_other(&metadata))
            .unwrap_or_else(|| not("its ELF headers are damaged; build it again")),
    )
}

/// Whether a program or library was built with `-finstrument-functions`, as far as its dynamic symbols tell.
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

/// Whether starting this file changes user or group, which makes the loader drop `LD_PRELOAD`.
fn runs_as_other(metadata: &std::fs::Metadata) -> bool {
    let Ok(own) = Path::new("/proc/self").metadata() else {
        return false;
    };
    let mode = metadata.mode();
    (mode & 0o4000 != 0 && metadata.uid() != own.uid())
        || (mode & 0o2010 == 0o2010 && metadata.gid() != own.gid())
}

fn elf_kind(path: &Path, cache: &ReadCache<File>, other: bool) -> Option<Executable> {
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
        elf::ET_EXEC | elf::ET_DYN if other => ExecutableKind::Setuid,
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

/// As ELF files name this machine.
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
