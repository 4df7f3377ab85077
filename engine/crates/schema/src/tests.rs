//! Generated files are those that the code generates.

#[test]
fn the_typescript_types_are_those_of_the_code() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../extension/protocol.gen.ts"
    );
    let file = std::fs::read_to_string(path).expect("the extension's protocol.gen.ts");
    assert!(
        file == crate::typescript(),
        "extension/protocol.gen.ts is stale: run `cargo run -p fulcrum-xtask -- codegen`"
    );
}

#[test]
fn every_type_that_is_used_is_declared() {
    let text = crate::typescript();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']))
    {
        for word in line.split(|c: char| !c.is_alphanumeric()) {
            let is_type = word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.chars().any(char::is_lowercase)
                && !["Array", "Record", "Method", "Requests"].contains(&word)
                && !line.contains(&format!("  {word}: \""))
                && !line.contains(&format!("\"{word}\""));
            if is_type {
                assert!(
                    text.contains(&format!("export type {word} =")),
                    "{word} in {line:?}"
                );
            }
        }
    }
}
