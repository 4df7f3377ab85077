//! The whole platform, rewritten.

#[path = "../it/rewriting.rs"]
mod rewriting;

#[test]
fn all_of_java_base_verifies() {
    let (classes, methods) = rewriting::verify_platform(".*");
    println!("verdict: {classes} classes with {methods} methods of java.base pass the verifier");
    assert!(methods > 40_000);
}
