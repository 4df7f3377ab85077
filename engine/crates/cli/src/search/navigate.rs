//! `fulcrum navigate`: commands from a terminal, a pipe or a script.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use fulcrum_profiles::OpenSearch;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use super::args::{Dialogue, NavigateArgs};
use super::command::{self, Command};
use super::numbers::Numbers;
use super::open;
use super::session::{Answer, run};
use super::{json, print};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Style};

/// Without `--top`, this many rows of each list.
const TOP: usize = 20;

/// `fulcrum navigate`.
pub fn navigate(args: &NavigateArgs) -> Outcome {
    let profile_in = |path: &PathBuf| path.as_os_str() == "-";
    if args.dialogue.script.is_none() && args.files.all().any(profile_in) {
        return Err(Failure::Usage(
            "standard input holds the profile: give the commands with --script".into(),
        ));
    }
    let session = open::open_labelled(&args.files, args.label_file.as_deref())?;
    talk(session, &args.dialogue)
}

/// Does the commands of a script, or of whoever sits at the terminal.
pub fn talk(session: OpenSearch, dialogue: &Dialogue) -> Outcome {
    let mut talk = Talk {
        numbers: Numbers {
            unit: session.identity.unit.clone(),
            whole: session.search.whole(),
            style: Style::stdout(),
        },
        session,
        json: dialogue.json,
        top: dialogue.top.unwrap_or(TOP),
        refused: false,
    };
    match &dialogue.script {
        Some(script) => talk.script(&script_text(script)?)?,
        None if io::stdin().is_terminal() => {
            talk.prompt()?;
            // A person has seen what was refused.
            return Ok(DONE);
        }
        None => talk.pipe()?,
    }
    Ok(if talk.refused { NOTHING } else { DONE })
}

/// The commands themselves, or the file that holds them.
fn script_text(script: &str) -> Result<String, Failure> {
    let path = Path::new(script);
    if !path.is_file() {
        return Ok(script.into());
    }
    std::fs::read_to_string(path)
        .map_err(|error| Failure::BadInput(format!("cannot read {script}: {error}")))
}

struct Talk {
    session: OpenSearch,
    numbers: Numbers,
    json: bool,
    top: usize,
    /// A command could not be done.
    refused: bool,
}

/// Whether there may be more commands.
#[derive(PartialEq)]
enum Then {
    GoOn,
    Stop,
}

impl Talk {
    fn script(&mut self, text: &str) -> Result<(), Failure> {
        for line in command::script(text) {
            if self.line(line)? == Then::Stop {
                break;
            }
        }
        Ok(())
    }

    fn pipe(&mut self) -> Result<(), Failure> {
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| {
                Failure::BadInput(format!("cannot read commands from standard input: {error}"))
            })?;
            if self.line(&line)? == Then::Stop {
                break;
            }
        }
        Ok(())
    }

    fn prompt(&mut self) -> Result<(), Failure> {
        let cannot = |error: ReadlineError| {
            Failure::BadInput(format!(
                "cannot read from this terminal: {error}; use --script"
            ))
        };
        let mut editor: Editor<Words, DefaultHistory> = Editor::new().map_err(cannot)?;
        editor.set_helper(Some(Words));
        terminal::say(
            "`suggest` lists where to start, `auto` searches alone, `help` lists all commands.",
        );
        loop {
            match editor.readline("> ") {
                Ok(line) => {
                    editor.add_history_entry(&line).map_err(cannot)?;
                    // Several are pasted together.
                    for line in line.lines() {
                        if self.line(line)? == Then::Stop {
                            return Ok(());
                        }
                    }
                }
                // Ctrl-C drops the line that is being typed.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(()),
                Err(error) => return Err(cannot(error)),
            }
        }
    }

    /// Does one command and prints what it answers.
    fn line(&mut self, line: &str) -> Result<Then, Failure> {
        let answer = match command::parse(line) {
            Ok(None) => return Ok(Then::GoOn),
            Ok(Some(Command::Quit)) => return Ok(Then::Stop),
            Ok(Some(command)) => run(&mut self.session, command),
            Err(error) => Err(error),
        };
        match (answer, self.json) {
            (Ok(answer), true) => {
                match json::answer(line.trim(), answer, self.top) {
                    Some(answer) => terminal::line(&answer)?,
                    None => return Ok(Then::Stop),
                };
            }
            (Ok(Answer::Quit), false) => return Ok(Then::Stop),
            (Ok(answer), false) => {
                terminal::print(&print::answer(&answer, &self.numbers, self.top))?;
            }
            (Err(error), json) => {
                self.refused = true;
                if json {
                    terminal::line(&json::refusal(line.trim(), error))?;
                } else {
                    terminal::say(&format!("{}: {error}", line.trim()));
                }
            }
        }
        Ok(Then::GoOn)
    }
}

/// Completes the first word of a line.
struct Words;

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..at];
        let mut words: Vec<String> = command::first_words()
            .filter(|word| word.starts_with(typed))
            .map(String::from)
            .collect();
        words.sort_unstable();
        words.dedup();
        Ok((0, words))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Validator for Words {}

impl Helper for Words {}
