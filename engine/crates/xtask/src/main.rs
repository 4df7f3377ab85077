//! Code generation and repository checks.
//!
//! `codegen` writes the generated files. `check` fails when a generated file or the protocol document is out of date, a crate
//! or a file depends on what it must not, an injected library links too much, unsafe code is where none is allowed, a folder
//! is crowded, or a document names something that the code does not have.

#![forbid(unsafe_code)]

mod arrows;
mod circles;
mod documents;
mod folders;
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
            folders::check(&root),
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
