//! Code generation and repository checks.
//!
//! `codegen` writes what is generated; `check` fails when a generated file, the protocol document, the arrows between
//! crates or what injected libraries link are not as they should be, or a document names what the code does not have.

mod arrows;
mod documents;
mod injected;
mod protocol;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
    let problems = match std::env::args().nth(1).as_deref() {
        Some("codegen") => protocol::write(&root),
        Some("check") => [
            protocol::check(&root),
            arrows::check(&root),
            injected::check(&root),
            documents::check(&root),
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
