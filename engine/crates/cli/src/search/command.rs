//! The commands of `fulcrum navigate`: the paper's (BOTTLENECKS §2.3), by its names, and a few more.

use std::path::PathBuf;

use fulcrum_paths::{End, Suggester};

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    SetSuggester(Suggester),
    Suggest,
    Select(usize),
    Path {
        names: Vec<String>,
        /// With the brackets, if there were any: they may belong to a name.
        as_typed: Option<Vec<String>>,
    },
    Find(String),
    Trim(End),
    Show,
    Label(String),
    Unlabel(String),
    Labels,
    Overlap,
    /// For a label, or for several labels separated by commas.
    Estimate(String),
    Zoom(bool),
    Cutoff(f64),
    Back,
    Forward,
    History,
    /// Goes to a path of the history by its number.
    GoTo(usize),
    Auto,
    Save(PathBuf),
    Load(PathBuf),
    Help,
    Quit,
}

/// The commands, and what they do.
pub(crate) const HELP: &[(&str, &str)] = &[
    (
        "set suggester NAME",
        "choose HighCum (from the top) or HighBase (from the bottom)",
    ),
    ("suggest", "list the suggester's starting paths"),
    ("select N", "go to the path numbered N in the last list"),
    (
        "path [A; B; C]",
        "go to this path, outermost name first; a name with ; goes in quotes",
    ),
    ("find TEXT", "list the functions whose names contain TEXT"),
    (
        "trim top | trim bottom",
        "go to the path without its first or last name",
    ),
    ("show", "print the current path again"),
    ("label NAME", "label the current path"),
    ("unlabel NAME", "take the label from the current path"),
    ("labels", "show what each label covers, and all together"),
    (
        "overlap",
        "show what the current path shares with each label",
    ),
    (
        "estimate [NAME, NAME]",
        "estimate the gain if the labelled cost disappeared; without names, of all labels",
    ),
    (
        "zoom on | zoom off",
        "hide extensions that cost little, and skip those that keep the cost",
    ),
    (
        "cutoff RATIO",
        "set the share of the cost that zooming keeps; 0.95 by default",
    ),
    ("back, forward", "move through the history of paths"),
    (
        "history [N]",
        "list the paths in the history with their costs; with a number, go to that path",
    ),
    ("auto", "find and label the bottlenecks automatically"),
    (
        "save FILE, load FILE",
        "write labels to a file, or add the labels in a file",
    ),
    ("help, quit", ""),
];

/// The first word of every command, for completion.
pub(crate) fn command_words() -> impl Iterator<Item = &'static str> {
    let all = HELP.iter().flat_map(|(usage, _)| usage.split([',', '|']));
    all.filter_map(|usage| usage.split_whitespace().next())
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Parses one command. `None` for a blank line or a comment.
///
/// # Errors
/// One sentence on what was expected.
pub(crate) fn parse(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (word, rest) = match line.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (line, ""),
    };
    let text = |what: &str| match unquoted(rest) {
        "" => Err(format!("expected {what} after `{word}`")),
        text => Ok(text.to_owned()),
    };
    let alone = |command| match rest {
        "" => Ok(command),
        _ => Err(format!("expected nothing after `{word}`, got {rest:?}")),
    };
    let command = match word {
        "set" => return set(rest).map(Some),
        "suggest" => alone(Command::Suggest)?,
        "select" => Command::Select(number(rest)?),
        "path" => path(rest)?,
        "find" => Command::Find(text("a part of a name")?),
        "trim" => Command::Trim(match rest {
            "top" => End::Top,
            "bottom" => End::Bottom,
            _ => return Err("expected `trim top` or `trim bottom`".into()),
        }),
        "show" => alone(Command::Show)?,
        "label" => Command::Label(text("a name")?),
        "unlabel" => Command::Unlabel(text("a name")?),
        "labels" => alone(Command::Labels)?,
        "overlap" => alone(Command::Overlap)?,
        "estimate" => Command::Estimate(unquoted(rest).into()),
        "zoom" => Command::Zoom(match rest {
            "on" => true,
            "off" => false,
            _ => return Err("expected `zoom on` or `zoom off`".into()),
        }),
        "cutoff" => {
            let ratio = rest.parse();
            Command::Cutoff(
                ratio.map_err(|_| format!("expected a ratio such as 0.95, got {rest:?}"))?,
            )
        }
        "back" => alone(Command::Back)?,
        "forward" => alone(Command::Forward)?,
        "history" if rest.is_empty() => Command::History,
        "history" => Command::GoTo(number(rest)?),
        "auto" => alone(Command::Auto)?,
        "save" => Command::Save(text("a file")?.into()),
        "load" => Command::Load(text("a file")?.into()),
        "help" | "?" => Command::Help,
        "quit" | "exit" => alone(Command::Quit)?,
        _ if line.bytes().all(|it| it.is_ascii_digit()) => Command::Select(number(line)?),
        _ => return Err(format!("there is no command {word:?}; `help` lists them")),
    };
    Ok(Some(command))
}

fn set(rest: &str) -> Result<Command, String> {
    match rest.split_once(char::is_whitespace) {
        Some(("suggester", name)) => {
            let suggester = unquoted(name.trim()).parse();
            suggester
                .map(Command::SetSuggester)
                .map_err(|error: fulcrum_paths::NotASuggester| error.to_string())
        }
        Some((what @ ("zoom" | "cutoff"), value)) => match parse(&format!("{what} {value}"))? {
            Some(command) => Ok(command),
            None => Err(format!("expected a value for {what}")),
        },
        _ => Err("expected `set suggester NAME`".into()),
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("expected a number from the last list, got {text:?}"))
}

/// `[a; b]` or `a; b`; names may be quoted.
fn path(text: &str) -> Result<Command, String> {
    // Brackets around the whole path, unlike those in `[libc.so.6]; [unknown]`.
    let around = text.starts_with('[') && bracketed(text) == Some(text.len());
    let names = listed(
        if around {
            &text[1..text.len() - 1]
        } else {
            text
        },
        ';',
    );
    match names.is_empty() {
        true => Err("expected a path such as [main; parse], outermost name first".into()),
        false => Ok(Command::Path {
            names: unfold(names)?,
            as_typed: around.then(|| vec![text.to_owned()]),
        }),
    }
}

/// The longest recursion that can be typed folded.
const MOST_TIMES: usize = 100_000;

/// Writes out recursion that is folded as in printed lists: `walk ×17`.
fn unfold(names: Vec<String>) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for name in names {
        let folded = name.rsplit_once(" \u{d7}");
        let times = folded.and_then(|(name, times)| Some((name, times.parse::<usize>().ok()?)));
        match times {
            None => all.push(name),
            Some((name, times)) if (1..=MOST_TIMES).contains(&(times + all.len())) => {
                all.extend(std::iter::repeat_n(name.to_owned(), times));
            }
            Some((_, times)) => {
                return Err(format!(
                    "expected a path of at most {MOST_TIMES} names, got {times}"
                ));
            }
        }
    }
    Ok(all)
}

/// The labels in a list separated by commas; names may be quoted.
pub(crate) fn label_names(text: &str) -> Vec<String> {
    listed(text, ',')
}

fn listed(text: &str, at: char) -> Vec<String> {
    let parts = split(text, at).into_iter();
    let names = parts.map(|it| unquoted(it.trim()).to_owned());
    names.filter(|it| !it.is_empty()).collect()
}

/// The quotation marks that may be around a name.
const QUOTES: [(&str, &str); 4] = [
    ("\"", "\""),
    ("``", "''"),
    ("'", "'"),
    ("\u{2018}\u{2018}", "\u{2019}\u{2019}"),
];

/// Removes quotation marks around a text: 'so', "so" or ``so''.
fn unquoted(text: &str) -> &str {
    let strip = |(open, close)| text.strip_prefix(open)?.strip_suffix(close);
    QUOTES.into_iter().find_map(strip).unwrap_or(text)
}

/// The commands of a script: one on each line, or several separated by semicolons. A semicolon in quotes or brackets is part of
/// its command.
pub(crate) fn script(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines
        .flat_map(|line| match line.trim_start().starts_with('#') {
            true => Vec::new(),
            false => split(line, ';'),
        })
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect()
}

/// Splits at a character outside of quotes and brackets. One that is never closed is an ordinary character, and so is a single
/// quote within a word.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut next) = (Vec::new(), 0, 0);
    while let Some(c) = text[next..].chars().next() {
        let rest = &text[next..];
        let closed = |open: &str, close: &str| {
            let inside = rest.strip_prefix(open)?;
            Some(open.len() + inside.find(close)? + close.len())
        };
        let in_word = text[start..next].ends_with(|c: char| !c.is_whitespace());
        let whole = QUOTES.into_iter().find_map(|(open, close)| {
            let whole = closed(open, close)?;
            (open != "'" || !in_word).then_some(whole)
        });
        if let Some(whole) = whole.or_else(|| bracketed(rest)) {
            next += whole;
            continue;
        }
        if c == at {
            parts.push(&text[start..next]);
            start = next + c.len_utf8();
        }
        next += c.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

/// The length of a text in brackets at the beginning, up to the closing bracket.
fn bracketed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (n, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (n > 0).then_some(n + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str], as_typed: Option<&str>) -> Command {
        Command::Path {
            names: names.iter().map(|&it| it.to_owned()).collect(),
            as_typed: as_typed.map(|it| vec![it.to_owned()]),
        }
    }

    #[test]
    fn commands_have_the_papers_names() {
        for (line, expected) in [
            (
                "set suggester HighBase",
                Command::SetSuggester(Suggester::HighBase),
            ),
            ("suggest", Command::Suggest),
            ("select 0", Command::Select(0)),
            ("7", Command::Select(7)),
            ("label ``bottleneck''", Command::Label("bottleneck".into())),
            ("label role checks", Command::Label("role checks".into())),
            (
                "unlabel \"role checks\"",
                Command::Unlabel("role checks".into()),
            ),
            ("zoom on", Command::Zoom(true)),
            ("set zoom off", Command::Zoom(false)),
            ("cutoff 0.9", Command::Cutoff(0.9)),
            ("  back ", Command::Back),
            ("trim top", Command::Trim(End::Top)),
            (
                "path [a; b::c[]; d]",
                path(&["a", "b::c[]", "d"], Some("[a; b::c[]; d]")),
            ),
            ("path main; \"f(La;)\"", path(&["main", "f(La;)"], None)),
            ("path [unknown]", path(&["unknown"], Some("[unknown]"))),
            (
                "path main; f \u{d7}3; g",
                path(&["main", "f", "f", "f", "g"], None),
            ),
            ("history", Command::History),
            ("history 2", Command::GoTo(2)),
            (
                "path [libc.so.6]; [unknown]",
                path(&["[libc.so.6]", "[unknown]"], None),
            ),
            ("estimate", Command::Estimate("".into())),
            ("estimate a, b c", Command::Estimate("a, b c".into())),
            (
                "save my labels.json",
                Command::Save("my labels.json".into()),
            ),
        ] {
            assert_eq!(parse(line), Ok(Some(expected)), "{line}");
        }
        for line in ["", "  ", "# a comment"] {
            assert_eq!(parse(line), Ok(None), "{line:?}");
        }
    }

    #[test]
    fn errors_say_what_was_expected() {
        for (line, part) in [
            ("jump", "no command \"jump\""),
            ("select", "expected a number"),
            ("select -1", "expected a number"),
            ("set suggester Best", "expected HighCum or HighBase"),
            ("set", "expected `set suggester NAME`"),
            ("zoom", "`zoom on` or `zoom off`"),
            ("cutoff much", "such as 0.95"),
            ("label", "expected a name after `label`"),
            ("path []", "such as [main; parse]"),
            ("trim", "`trim top` or `trim bottom`"),
            ("back 2", "expected nothing after `back`"),
            ("history x", "expected a number"),
            ("path [f \u{d7}99999999]", "at most 100000 names"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn scripts_hold_commands_on_lines_and_between_semicolons() {
        let text = "suggest; select 0\n# then; nothing\npath [a; b]; label \"x; y\"\n\nback";
        let expected = [
            "suggest",
            "select 0",
            "path [a; b]",
            "label \"x; y\"",
            "back",
        ];
        assert_eq!(script(text), expected);
    }

    #[test]
    fn quotes_and_brackets_keep_separators_when_they_are_closed() {
        for (line, expected) in [
            ("path a; label 'x; y'", vec!["path a", "label 'x; y'"]),
            ("label ``x; y''; back", vec!["label ``x; y''", "back"]),
            ("label x[1; back; quit", vec!["label x[1", "back", "quit"]),
            (
                "path f'2; label it's; back",
                vec!["path f'2", "label it's", "back"],
            ),
            ("find \"; back", vec!["find \"", "back"]),
            ("find ]; back", vec!["find ]", "back"]),
            (
                "path [[unknown]; b]; back",
                vec!["path [[unknown]; b]", "back"],
            ),
        ] {
            assert_eq!(script(line), expected, "{line}");
        }
        assert_eq!(
            label_names("a, \"std::map<int, int>::find\" , b c,"),
            ["a", "std::map<int, int>::find", "b c"]
        );
    }

    #[test]
    fn every_command_in_the_help_can_be_completed_and_is_known() {
        let words: Vec<_> = command_words().collect();
        for word in [
            "set", "suggest", "select", "forward", "load", "quit", "zoom",
        ] {
            assert!(words.contains(&word), "{word} in {words:?}");
        }
        for word in words {
            let known = !matches!(parse(word), Err(error) if error.contains("no command"));
            assert!(known, "{word}");
        }
    }
}
