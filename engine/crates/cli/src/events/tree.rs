//! `fulcrum events tree`: shows what each thread called, with wall, CPU and own time.

use std::collections::HashMap;

use fulcrum_answers::events::thread_tree;
use fulcrum_events::{CallValues, Closing, Node, Outcome as Ended, Stack, Thread, Trace, What};
use fulcrum_schema::EventsTrees;

use super::args::TreeArgs;
use super::open::{open, say_notes};
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// The calls of a thread in the order of their beginnings, and whether there are more.
struct Tree {
    rows: Vec<(Ended, Option<CallValues>)>,
    cut: bool,
    problems: Vec<String>,
}

/// Shows the trees of the selected threads.
pub(crate) fn tree(args: &TreeArgs) -> Outcome {
    let trace = open(&args.selection)?;
    let mut problems = Vec::new();
    let mut shown = 0;
    let mut all = Vec::new();
    for thread in trace
        .threads
        .iter()
        .filter(|thread| args.selection.has_thread(thread))
    {
        let mut tree = collect(&trace, thread, args);
        problems.append(&mut tree.problems);
        if tree.rows.is_empty() {
            continue;
        }
        shown += tree.rows.len();
        if args.selection.json {
            let name = |node| name(&trace, node);
            all.push(thread_tree(&trace, thread, &tree.rows, name, tree.cut));
        } else {
            terminal::print(&as_text(&trace, thread, &tree, Style::stdout()))?;
        }
    }
    if args.selection.json {
        terminal::answer(&EventsTrees { threads: all })?;
    }
    say_notes(&trace, &problems);
    Ok(if shown == 0 { NOTHING } else { DONE })
}

/// Goes through a thread's events once and keeps what will be shown.
fn collect(trace: &Trace, thread: &Thread, args: &TreeArgs) -> Tree {
    let mut stack = Stack::new(trace.costs);
    let most = if args.limit == 0 {
        usize::MAX
    } else {
        args.limit
    };
    // By the number of their beginnings: the ends come in another order.
    let mut shown: HashMap<u64, Option<Ended>> = HashMap::new();
    let mut values: HashMap<u64, CallValues> = HashMap::new();
    // The call that the last event began.
    let mut last = None;
    let mut cut = false;
    let mut events = trace.thread_events(thread.id);
    for event in events.by_ref() {
        let of = match event.what {
            What::Arguments { .. } => last,
            What::Returned { method, .. } => stack.call(method),
            _ => None,
        };
        if let Some(of) = of.filter(|it| shown.contains_key(it)) {
            let values = values.entry(of).or_default();
            match &event.what {
                What::Arguments { given, .. } => values.arguments = Some(given.clone()),
                What::Returned { value, .. } => values.returned = Some(value.clone()),
                _ => {}
            }
        }
        let begun = stack.event(&event, |it| set_end(&mut shown, it));
        let deep = args.depth > 0 && stack.depth() > args.depth;
        if let Some(serial) = begun
            && !deep
            && args.selection.has_time(event.wall_ns)
        {
            if shown.len() == most {
                cut = true;
            } else {
                shown.insert(serial, None);
            }
        }
        last = begun;
    }
    stack.finish(|it| set_end(&mut shown, it));
    let mut rows: Vec<Ended> = shown.into_values().flatten().collect();
    rows.sort_unstable_by_key(|it| it.serial);
    let with_values = rows.into_iter().map(|row| {
        let mut values = values.remove(&row.serial);
        if let Some(values) = values.as_mut().filter(|_| row.closing != Closing::Ended) {
            values.returned = None;
        }
        (row, values)
    });
    Tree {
        rows: with_values.collect(),
        cut,
        problems: events.problems().to_vec(),
    }
}

/// Sets the end of a call, if the call is shown.
fn set_end(shown: &mut HashMap<u64, Option<Ended>>, end: Ended) {
    if let Some(place) = shown.get_mut(&end.serial) {
        *place = Some(end);
    }
}

fn name(trace: &Trace, node: Node) -> String {
    match node {
        Node::Call { method } => trace.method_name(method),
        Node::Contended { object, class } => {
            format!("contended {}#{object}", trace.class_name(class))
        }
        Node::Waiting { object, class } => format!("wait {}#{object}", trace.class_name(class)),
        Node::Collection => "garbage collection".into(),
    }
}

fn how(closing: Closing) -> &'static str {
    match closing {
        Closing::Ended => "returned",
        Closing::Thrown => "thrown",
        Closing::Unwound => "lost",
        Closing::Open => "open",
    }
}

fn as_text(trace: &Trace, thread: &Thread, tree: &Tree, style: Style) -> String {
    let time = |ns: u64| style.nanoseconds(ns);
    let optional = |ns: Option<u64>| ns.map_or_else(|| "-".into(), time);
    let mut table = Table::default();
    let heads = ["wall", "cpu", "self"]
        .map(Cell::right)
        .into_iter()
        .chain([Cell::left("call")]);
    table.row(heads.map(|cell| cell.colour(Some(Colour::Dim))).collect());
    for (row, values) in &tree.rows {
        let mut call = "  ".repeat(row.depth) + &name(trace, row.node);
        if let Some(values) = values {
            call += &values.shown(trace);
        }
        if row.closing != Closing::Ended {
            call += &format!(" ({})", how(row.closing));
        }
        table.row(vec![
            Cell::right(time(row.times.wall_ns)),
            Cell::right(optional(row.times.cpu_ns)),
            Cell::right(time(row.times.self_wall_ns)),
            Cell::left(call),
        ]);
    }
    let mut out = style.paint(Colour::Strong, &thread.name) + "\n" + &table.render(style);
    if tree.cut {
        out += &style.aside("more follow: --limit 0 shows all");
    }
    out
}
