//! Repository checks and code generation.
fn main() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    std::fs::write(
        root.join("extension/protocol.gen.ts"),
        fulcrum_server::codegen::typescript(),
    )
    .expect("the extension folder is writable");
}
