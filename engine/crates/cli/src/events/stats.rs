//! `fulcrum events stats`: sums up a trace.

use fulcrum_answers::quantity::grouped;
use fulcrum_events::{Stats, Trace};

use super::args::StatsArgs;
use super::open::{notes, open};
use crate::outcome::{DONE, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

const TABLE_TOP: usize = 20;

/// Shows the sums.
pub(crate) fn stats(args: &StatsArgs) -> Outcome {
    let trace = open(&args.selection)?;
    let selection = &args.selection;
    let threads: std::collections::HashSet<u32> = trace
        .threads
        .iter()
        .filter(|it| selection.has_thread(it))
        .map(|it| it.id)
        .collect();
    let mut stats = fulcrum_events::stats(&trace, |event| {
        threads.contains(&event.thread) && selection.has_time(event.wall_ns)
    });
    stats.threads.retain(|thread| threads.contains(&thread.id));
    let top = args
        .top
        .unwrap_or(if selection.json { 0 } else { TABLE_TOP });
    let shown = if top == 0 { usize::MAX } else { top };
    if selection.json {
        let notes = notes(&trace, &stats.problems);
        terminal::answer(&fulcrum_answers::events::stats(
            &trace, &stats, shown, notes,
        ))?;
    } else {
        terminal::print(&as_text(&trace, &stats, shown, Style::stdout()))?;
    }
    let any = stats.threads.iter().any(|thread| thread.events > 0);
    Ok(if any { DONE } else { NOTHING })
}

fn as_text(trace: &Trace, stats: &Stats, shown: usize, style: Style) -> String {
    let time = |ns: u64| style.nanoseconds(ns);
    let heads = |names: &[&'static str], last: &'static str| -> Vec<Cell> {
        let cells = names
            .iter()
            .copied()
            .map(Cell::right)
            .chain([Cell::left(last)]);
        cells.map(|cell| cell.colour(Some(Colour::Dim))).collect()
    };
    let mut methods = Table::default();
    methods.row(heads(&["calls", "self", "wall", "cpu"], "method"));
    for it in stats.methods.iter().take(shown) {
        methods.row(vec![
            Cell::right(grouped(it.calls)),
            Cell::right(time(it.self_wall_ns)),
            Cell::right(time(it.wall_ns)),
            Cell::right(time(it.cpu_ns)),
            Cell::left(trace.method_name(it.method)),
        ]);
    }
    let mut out = methods.render(style);
    out += &style.more(stats.methods.len(), shown);
    let mut threads = Table::default();
    threads.row(heads(&["events", "wall", "cpu"], "thread"));
    for it in &stats.threads {
        threads.row(vec![
            Cell::right(grouped(it.events)),
            Cell::right(time(it.wall_ns)),
            Cell::right(it.cpu_ns.map_or_else(|| "-".into(), time)),
            Cell::left(trace.thread(it.id).map_or("?", |thread| &thread.name)),
        ]);
    }
    out += "\n";
    out += &threads.render(style);
    for (sums, what) in [
        (&stats.contention, "contended for"),
        (&stats.waiting, "waited on"),
    ] {
        if !sums.is_empty() {
            let mut table = Table::default();
            table.row(heads(&["count", "wall"], what));
            for it in sums {
                let count = Cell::right(grouped(it.count));
                table.row(vec![
                    count,
                    Cell::right(time(it.wall_ns)),
                    Cell::left(trace.class_name(it.class)),
                ]);
            }
            out += "\n";
            out += &table.render(style);
        }
    }
    let (count, wall) = stats.collections;
    if count > 0 {
        out += &format!("\n{count} garbage collections, {}\n", time(wall));
    }
    out + &style.notes(&notes(trace, &stats.problems))
}
