//! The long replay of the fuzz corpora.

#[path = "../it/corpus.rs"]
mod corpus;

#[test]
fn damaged_corpora_never_crash_a_reader() {
    let (damaged, bytes) = corpus::replay(600);
    println!("verdict: {damaged} damaged copies of {bytes} bytes of corpora were read or refused");
    assert!(damaged > 10_000);
}
