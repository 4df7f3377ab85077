//! Code generation and repository checks.
//!
//! `codegen` writes what is generated; `check` fails when a generated file, the protocol document, the arrows between
//! crates or files, what injected libraries link or where unsafe code is are not as they should be, or a document names what
//! the code does not have.

#![forbid(unsafe_code)]

mod arrows;
mod circles;
mod documents;
mod injected;
mod layers;
mod modules;
mod protocol;
mod unsafe_code;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
    let problems = match std::env::args().nth(1).as_deref() {
        Some("codegen") => protocol::write(&root),
        Some("check") => [
            protocol::check(&root),
            arrows::check(&root),
            layers::check(&root),
            circles::check(&root),
            injected::check(&root),
            documents::check(&root),
            unsafe_code::check(&root),
        ]
        .concat(),
        _ => {
            eprintln!("usage: cargo run -p fulcrum-xtask -- codegen | check");
            return ExitCode::from(2);
        }
    };
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
