//! Maps the targets of one run to those of another, across the code changes between them.

use fulcrum_model::{Location, TargetId};

use crate::drift::Anchors;

/// A file of a run: its name in the recording, and its text at that time, if known.
pub type RecordedFile<'a> = (&'a str, Option<&'a str>);

/// The paired files of two runs, with matched lines.
#[derive(Clone, Debug, Default)]
pub struct LineMapping {
    files: Vec<Pair>,
}

#[derive(Clone, Debug)]
struct Pair {
    before: String,
    after: String,
    /// `None` if a text is missing. Then lines are assumed not to have moved.
    anchors: Option<Anchors>,
}

impl LineMapping {
    /// Pairs files by name, or else by the longest common end of their paths, if that is unambiguous.
    pub fn new(before: &[RecordedFile<'_>], after: &[RecordedFile<'_>]) -> LineMapping {
        let files = before
            .iter()
            .filter_map(|&(name, text)| {
                let &(other, now) = counterpart(name, after)?;
                Some(Pair {
                    before: name.into(),
                    after: other.into(),
                    anchors: text.zip(now).map(|(old, new)| Anchors::new(old, new)),
                })
            })
            .collect();
        LineMapping { files }
    }

    /// The id in the later run of a target in the earlier run. `None` if its code is gone.
    pub fn target(&self, id: &TargetId) -> Option<TargetId> {
        let Location { file, line } = &id.location;
        let pair = self.files.iter().find(|pair| pair.before == *file)?;
        let line = match &pair.anchors {
            Some(anchors) => anchors.successor(*line)?,
            None => *line,
        };
        Some(TargetId {
            location: Location {
                file: pair.after.clone(),
                line,
            },
            ..id.clone()
        })
    }
}

fn counterpart<'a, 'f>(name: &str, files: &'a [RecordedFile<'f>]) -> Option<&'a RecordedFile<'f>> {
    if let Some(same) = files.iter().find(|(other, _)| *other == name) {
        return Some(same);
    }
    let score = |file: &RecordedFile<'_>| common_end(name, file.0);
    let top = files.iter().map(score).max().filter(|&top| top > 0)?;
    let mut best = files.iter().filter(|file| score(file) == top);
    let first = best.next();
    // If two fit equally well, neither does.
    if best.next().is_some() { None } else { first }
}

/// The number of components that two paths share at their ends.
fn common_end(a: &str, b: &str) -> usize {
    let parts = |path: &str| -> Vec<String> {
        path.rsplit(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect()
    };
    parts(a)
        .iter()
        .zip(&parts(b))
        .take_while(|(a, b)| a == b)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "int f() {\n  slow(10);\n  rest();\n}\n";

    /// Where a target of the old text is in the new one; `-` when it is gone.
    fn check(new: Option<&str>, after: &str, target: &str, expect: &str) {
        let moves = LineMapping::new(&[("/w/src/a.cpp", Some(OLD))], &[(after, new)]);
        let id: TargetId = target.parse().expect("a target");
        let got = moves
            .target(&id)
            .map_or_else(|| "-".to_owned(), |id| id.to_string());
        assert_eq!(got, expect, "{target} in {new:?}");
    }

    #[test]
    fn targets_follow_the_code() {
        let same = "/w/src/a.cpp";
        check(Some(OLD), same, "/w/src/a.cpp:2", "/w/src/a.cpp:2");
        let changed = OLD.replace("10", "5");
        check(Some(&changed), same, "/w/src/a.cpp:2", "/w/src/a.cpp:2");
        let longer = format!("// new\n\n{changed}");
        check(Some(&longer), same, "/w/src/a.cpp:2", "/w/src/a.cpp:4");
        check(Some(&longer), same, "/w/src/a.cpp:3", "/w/src/a.cpp:5");
        let without = OLD.replace("  slow(10);\n", "");
        check(Some(&without), same, "/w/src/a.cpp:2", "-");
        check(Some(&without), same, "/w/src/a.cpp:3", "/w/src/a.cpp:2");
        check(None, same, "/w/src/a.cpp:2", "/w/src/a.cpp:2");
    }

    #[test]
    fn names_and_files_go_along() {
        let longer = format!("// new\n{OLD}");
        for (target, expect) in [
            ("function:f()@/w/src/a.cpp:1", "function:f()@/n/src/a.cpp:2"),
            ("blocked:read@/w/src/a.cpp:3", "blocked:read@/n/src/a.cpp:4"),
            ("/w/src/b.cpp:3", "-"),
        ] {
            check(Some(&longer), "/n/src/a.cpp", target, expect);
        }
    }

    #[test]
    fn a_file_that_could_be_two_is_none() {
        let moves = LineMapping::new(
            &[("/w/a.cpp", Some(OLD))],
            &[("/x/a.cpp", Some(OLD)), ("/y/a.cpp", Some(OLD))],
        );
        assert_eq!(moves.target(&"/w/a.cpp:2".parse().expect("a target")), None);
    }
}
