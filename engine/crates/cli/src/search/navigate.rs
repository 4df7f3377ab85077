//! `fulcrum navigate`: commands from a terminal, a pipe or a script.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::ops::ControlFlow;
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
pub(crate) fn navigate(args: &NavigateArgs) -> Outcome {
    let profile_in = |path: &PathBuf| path.as_os_str() == "-";
    if args.dialogue.script.is_none() && args.files.all().any(profile_in) {
        return Err(Failure::Usage(
            "standard input is the profile: give the commands with --script".into(),
        ));
    }
    let session = open::open_labelled(&args.files, args.label_file.as_deref())?;
    interact(session, &args.dialogue)
}

/// Executes the commands of a script, of a pipe, or of a person at the terminal.
pub(crate) fn interact(session: OpenSearch, dialogue: &Dialogue) -> Outcome {
    let mut interpreter = Interpreter {
        numbers: Numbers {
            unit: session.identity.unit.clone(),
            denominator: session.search.whole(),
            style: Style::stdout(),
        },
        session,
        json: dialogue.json,
        top: dialogue.top.unwrap_or(TOP),
        refused: false,
    };
    match &dialogue.script {
        Some(script) => interpreter.script(&script_text(script)?)?,
        None if io::stdin().is_terminal() => {
            interpreter.prompt()?;
            // The person has seen which commands failed.
            return Ok(DONE);
        }
        None => interpreter.pipe()?,
    }
    Ok(if interpreter.refused { NOTHING } else { DONE })
}

/// The text of a script: the commands themselves, or the contents of a file.
fn script_text(script: &str) -> Result<String, Failure> {
    let path = Path::new(script);
    if !path.is_file() {
        return Ok(script.into());
    }
    std::fs::read_to_string(path)
        .map_err(|error| Failure::BadInput(format!("cannot read {script}: {error}")))
}

/// Executes commands and prints their answers.
struct Interpreter {
    session: OpenSearch,
    numbers: Numbers,
    json: bool,
    top: usize,
    /// Whether a command has failed.
    refused: bool,
}

impl Interpreter {
    fn script(&mut self, text: &str) -> Result<(), Failure> {
        for line in command::script(text) {
            if self.line(line)?.is_break() {
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
            if self.line(&line)?.is_break() {
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
        let mut editor: Editor<CommandCompleter, DefaultHistory> = Editor::new().map_err(cannot)?;
        editor.set_helper(Some(CommandCompleter));
        terminal::say(
            "`suggest` lists starting points, `auto` searches automatically, `help` lists all commands.",
        );
        loop {
            match editor.readline("> ") {
                Ok(line) => {
                    editor.add_history_entry(&line).map_err(cannot)?;
                    // Pasted text may have several lines.
                    for line in line.lines() {
                        if self.line(line)?.is_break() {
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

    /// Executes one command and prints its answer. Breaks when there are to be no more commands.
    fn line(&mut self, line: &str) -> Result<ControlFlow<()>, Failure> {
        let answer = match command::parse(line) {
            Ok(None) => return Ok(ControlFlow::Continue(())),
            Ok(Some(Command::Quit)) => return Ok(ControlFlow::Break(())),
            Ok(Some(command)) => run(&mut self.session, command),
            Err(error) => Err(error),
        };
        let lists = matches!(answer, Ok(Answer::Rows { .. } | Answer::Details(_)));
        let rows = match lists {
            true => {
                let most = (self.top > 0).then_some(self.top);
                self.session.search.rows().first(most)
            }
            false => Vec::new(),
        };
        match (answer, self.json) {
            (Ok(answer), true) => {
                match json::answer(line.trim(), answer, &rows) {
                    Some(answer) => terminal::line(&answer)?,
                    None => return Ok(ControlFlow::Break(())),
                };
            }
            (Ok(Answer::Quit), false) => return Ok(ControlFlow::Break(())),
            (Ok(answer), false) => {
                terminal::print(&print::answer(&answer, &rows, &self.numbers))?;
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
        Ok(ControlFlow::Continue(()))
    }
}

/// Completes the first word of a line.
struct CommandCompleter;

impl Completer for CommandCompleter {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..at];
        let mut words: Vec<String> = command::command_words()
            .filter(|word| word.starts_with(typed))
            .map(String::from)
            .collect();
        words.sort_unstable();
        words.dedup();
        Ok((0, words))
    }
}

impl Hinter for CommandCompleter {
    type Hint = String;
}

impl Highlighter for CommandCompleter {}

impl Validator for CommandCompleter {}

impl Helper for CommandCompleter {}
