use super::*;
use crate::read;
use crate::testing::text;

fn check(profile: &str, expect: &str, renamed: &[(&str, &str, &[Rule])]) {
    let profile = read(profile.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"));
    let profile = normalise(profile, &default_rules()).expect("fits");
    let expect: Vec<_> = expect.lines().map(str::trim).collect();
    assert_eq!(text(&profile).lines().collect::<Vec<_>>(), expect);
    let found: Vec<(&str, &str, &[Rule])> = profile
        .renamed
        .iter()
        .map(|it| (&*it.raw, &*it.name, &*it.rules))
        .collect();
    assert_eq!(found, renamed);
}

#[test]
fn siblings_that_become_alike_are_one() {
    check(
        "main;_Z4leafi.cold;x 1\nmain;leaf;x 2\nmain;leaf.isra.0 4\n",
        "samples* 7
         main 0
         main;leaf 4
         main;leaf;x 3",
        &[
            (
                "_Z4leafi.cold",
                "leaf",
                &[Rule::Demangle, Rule::CompilerSuffix],
            ),
            ("leaf.isra.0", "leaf", &[Rule::CompilerSuffix]),
        ],
    );
}

#[test]
fn levels_of_a_recursion_are_one_function() {
    // main calls recurse, which calls itself twice: 10 each time, of which 1 is the function's own.
    check(
        "events: Ir\nfn=main\n1 5\ncfn=recurse\ncalls=1 1\n1 30\nfn=recurse\n1 1\ncfn=recurse'2\ncalls=1 1\n1 20\n\
         fn=recurse'2\n1 2\ncfn=recurse'2\ncalls=1 1\n1 10\ncfn=leaf\ncalls=1 1\n1 18\nfn=leaf\n1 27\n\
         fn=recurse\n1 0\ncfn=leaf\ncalls=1 1\n1 9\n",
        "Ir*
         main 5/35
         recurse 3/30
         leaf 27/27
         main > recurse ?/30
         recurse > recurse ?/30
         recurse > leaf ?/27",
        &[("recurse'2", "recurse", &[Rule::RecursionLevel])],
    );
}

#[test]
fn a_function_may_join_one_that_comes_later() {
    check(
        "events: Ir\nfn=f'2\n1 2\nfn=main\n1 5\nfn=leaf\n1 7\nfn=f\n1 3\n",
        "Ir*
         f 5/5
         main 5/5
         leaf 7/7",
        &[("f'2", "f", &[Rule::RecursionLevel])],
    );
}

#[test]
fn a_quote_is_part_of_other_formats_names() {
    check("main;f'2 1\n", "samples* 1\nmain 0\nmain;f'2 1", &[]);
}

#[test]
fn without_rules_nothing_changes() {
    let profile = read(b"main;_Z4leafi.cold 1\n", "x").expect("folded");
    assert_eq!(normalise(profile.clone(), &[]), Ok(profile));
}

#[test]
fn lines_that_tell_functions_apart_are_noted_until_a_rule_joins_them() {
    let notes = |text: &str, rules: &[Rule]| {
        let profile = read(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"));
        normalise(profile, rules).expect("fits").notes
    };
    let lines = "main (app.py:3);work (app.py:7) 1\nmain (app.py:3);work (app.py:8) 2\n";
    assert_eq!(
        notes(lines, &default_rules()),
        [
            "Names include the line that ran, as in \"work (app.py:8)\", so one function can have several entries: the rule \
             source-line merges them."
        ]
    );
    assert!(notes(lines, &[Rule::SourceLine]).is_empty());
    // Each function is there with one line: the one it begins in, for all that is known.
    let starts = "main (app.py:3);work (app.py:7) 1\nmain (app.py:3) 2\n";
    assert!(notes(starts, &default_rules()).is_empty());
}
