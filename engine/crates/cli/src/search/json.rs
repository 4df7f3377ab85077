//! Answers as JSON: one object a command. Costs in the profile's unit, shares as fractions.

use fulcrum_paths::Row;
use serde_json::{Map, Value, json};

use super::command::HELP;
use super::session::Answer;

/// The object for a command that was done. Lists have at most `top` rows of each kind; 0 means all.
pub fn answer(command: &str, answer: &Answer, top: usize) -> Value {
    let body = match answer {
        Answer::Rows(rows) => {
            let shown = if top == 0 {
                rows.len()
            } else {
                top.min(rows.len())
            };
            json!({ "rows": rows[..shown], "more": rows.len() - shown })
        }
        Answer::Details(details) => {
            let mut details = details.clone();
            let more = cut(&mut details.nearby, top);
            let mut value = json!(details);
            if let Some(object) = value.as_object_mut() {
                object.insert("more".into(), more.into());
            }
            value
        }
        Answer::Settings {
            suggester,
            zooming,
            cutoff,
        } => json!({ "suggester": suggester.name(), "zoom": zooming, "cutoff": cutoff }),
        Answer::Labels { path, labels } => json!({ "path": path, "labels": labels }),
        Answer::Reports { labels, base, cum } => {
            json!({ "labels": labels, "base": base, "cum": cum })
        }
        Answer::Overlaps(details) => json!({
            "path": details.path,
            "base": details.base,
            "cum": details.cum,
            "total": details.whole.cost,
            "of": details.whole.of,
            "overlaps": details.overlaps,
            "overlap": details.overlap,
        }),
        Answer::Estimate { labels, estimate } => json!({ "labels": labels, "estimate": estimate }),
        Answer::History { paths, current } => json!({ "history": paths, "current": current }),
        Answer::Automatic(found) => json!(found),
        Answer::Saved(path) => json!({ "saved": path.display().to_string() }),
        Answer::Loaded(notes) => json!({ "notes": notes }),
        Answer::Help => {
            let commands = HELP
                .iter()
                .map(|(usage, what)| json!({ "usage": usage, "what": what }));
            json!({ "commands": commands.collect::<Vec<_>>() })
        }
        Answer::Quit => json!({}),
    };
    with_command(command, body)
}

/// The object for a command that was not done.
pub fn refusal(command: &str, error: &str) -> Value {
    json!({ "command": command, "error": error })
}

fn with_command(command: &str, body: Value) -> Value {
    let mut object = Map::new();
    object.insert("command".into(), command.into());
    if let Value::Object(body) = body {
        object.extend(body);
    }
    Value::Object(object)
}

/// Leaves at most `top` rows of each kind; how many were left out.
pub fn cut(rows: &mut Vec<Row>, top: usize) -> usize {
    let before = rows.len();
    if top > 0 {
        let mut seen = 0;
        let mut step = None;
        rows.retain(|row| {
            if step != Some(row.step) {
                (step, seen) = (Some(row.step), 0);
            }
            seen += 1;
            seen <= top
        });
    }
    before - rows.len()
}
