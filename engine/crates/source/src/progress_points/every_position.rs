//! Tries every position in whole files: wherever the cursor is, the result is an edit that leaves good code, or a sentence.

use std::collections::HashMap;

use crate::progress_points::{SourceFile, is_as_good, plan};
use crate::syntax::tree::Syntax;
use crate::{Edit, Language, ProgressPointKind, apply};

const KINDS: [ProgressPointKind; 3] = [
    ProgressPointKind::Throughput,
    ProgressPointKind::LatencyBegin,
    ProgressPointKind::LatencyEnd,
];

/// Returns the number of different edits and of refused positions.
fn check(text: &str, language: Language) -> (usize, usize) {
    let syntax = Syntax::parse(text, language);
    let mut plans: HashMap<(ProgressPointKind, Vec<Edit>), usize> = HashMap::new();
    let mut refused = 0;
    for at in 0..=text.len() + 1 {
        for kind in KINDS {
            match plan(&syntax, at, kind) {
                Ok(edits) => {
                    plans.entry((kind, edits)).or_insert(at);
                }
                Err(why) => {
                    assert!(why.to_string().ends_with('.'), "{why}");
                    refused += 1;
                }
            }
        }
    }
    for ((kind, edits), at) in &plans {
        check_edits(&syntax, *kind, edits, *at);
    }
    (plans.len(), refused)
}

fn check_edits(syntax: &Syntax<'_>, kind: ProgressPointKind, edits: &[Edit], at: usize) {
    let text = syntax.text;
    let now = apply(text, edits);
    let about = || {
        format!(
            "{kind:?} at {at} ({:?}…)\n{now}",
            text[at.min(text.len())..].lines().next()
        )
    };
    let after = Syntax::parse(&now, syntax.language);
    assert!(
        is_as_good(syntax, &after, kind),
        "does not parse as before: {}",
        about()
    );
    // The public function checks the same tree, parsed incrementally.
    let quick = syntax.edited(edits, &now);
    assert_eq!(
        quick.root().to_sexp(),
        after.root().to_sexp(),
        "{}",
        about()
    );

    // Of the user's text, only white space or the `;` of an empty body is removed.
    for edit in edits {
        let gone = text[edit.start..edit.end].trim();
        assert!(
            gone.is_empty() || gone == ";",
            "{gone:?} is lost: {}",
            about()
        );
    }
    check_removal(&after, edits, text, &about);
}

/// Removing the macro again restores the text, except for braces that were added.
fn check_removal(after: &Syntax<'_>, edits: &[Edit], text: &str, about: &dyn Fn() -> String) {
    let now = after.text;
    let point = now
        .find("    FULCRUM_")
        .or_else(|| now.rfind("FULCRUM_"))
        .expect("it was inserted");
    let macro_at = point + now[point..].find("FULCRUM_").expect("it is there");
    let removal = plan(after, macro_at, ProgressPointKind::Remove)
        .unwrap_or_else(|why| panic!("{why}: {}", about()));
    assert!(
        is_as_good(
            after,
            &after.edited(&removal, &apply(now, &removal)),
            ProgressPointKind::Remove
        ),
        "removal breaks: {}",
        about()
    );
    let back = apply(now, &removal);
    assert!(
        !back.contains("FULCRUM_") && !back.contains("fulcrum.h"),
        "{back}"
    );
    let braces = edits
        .iter()
        .any(|e| e.new_text.contains(['{', '}']) || e.start != e.end);
    if !braces {
        assert_eq!(squeezed(&back), squeezed(text), "{}", about());
        // If a line was added, rather than an empty block opened, no line may be left over.
        if edits
            .iter()
            .all(|edit| edit.new_text.matches('\n').count() < 2)
        {
            assert_eq!(back.lines().count(), text.lines().count(), "{}", about());
        }
    }
}

/// The text without white space.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn of_a_cpp_file() {
    let (edits, refused) = check(include_str!("../../tests/data/pipeline.cpp"), Language::Cpp);
    assert!(
        edits > 120 && refused > 1000,
        "{edits} edits, {refused} refusals"
    );
}

#[test]
fn of_a_c_file() {
    for language in [Language::C, Language::Cpp] {
        let (edits, refused) = check(include_str!("../../tests/data/server.c"), language);
        assert!(
            edits > 60 && refused > 500,
            "{language:?}: {edits} edits, {refused} refusals"
        );
    }
}

#[test]
fn of_files_cut_short() {
    let text = include_str!("../../tests/data/server.c");
    for (n, _) in text.match_indices('\n').step_by(9) {
        let cut = &text[..n];
        let syntax = Syntax::parse(cut, Language::C);
        let source = SourceFile::parse(cut.into(), Language::C);
        for at in (0..=cut.len()).step_by(11) {
            for kind in KINDS {
                // The public function refuses unfinished code that it cannot check.
                if let Ok(edits) = source.progress_point(at, kind) {
                    let now = apply(cut, &edits);
                    assert!(
                        is_as_good(&syntax, &Syntax::parse(&now, Language::C), kind),
                        "{now}"
                    );
                }
            }
        }
    }
}
