//! `fulcrum events queues`: replays a queue (JPMT §5.3).

use fulcrum_events::Trace;
use fulcrum_events::queues::{Order, Queue, QueueError, Request, methods_of, queue};

use super::args::{QueueOrder, QueuesArgs};
use super::open::{notes, open};
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

const TABLE_TOP: usize = 20;

/// Replays a queue and shows its requests.
pub(crate) fn queues(args: &QueuesArgs) -> Outcome {
    let trace = open(&args.selection)?;
    let scope = args.selection.scope(&trace);
    let order = args.order.map(|order| match order {
        QueueOrder::Fifo => Order::Fifo,
        QueueOrder::Lifo => Order::Lifo,
        QueueOrder::Identity => Order::Identity,
    });
    let names = match &args.queue {
        Some(class) => methods_of(&trace, class),
        None => Ok([args.put.join(","), args.take.join(",")]),
    };
    let queue = names.and_then(|[put, take]| {
        let progress = fulcrum_model::Progress::default();
        queue(&trace, &scope, [&put, &take], order, &progress)
    });
    let queue = queue.map_err(|error| match error {
        QueueError::NoSuchMethod(..) | QueueError::NoObjects(..) => {
            Failure::NotFound(error.to_string())
        }
        error => Failure::Usage(error.to_string()),
    })?;
    let top = args
        .top
        .unwrap_or(if args.selection.json { 0 } else { TABLE_TOP });
    let shown = if top == 0 { usize::MAX } else { top };
    if args.selection.json {
        let requests = queue.requests.iter().take(shown);
        let notes = notes(&trace, &queue.notes);
        terminal::answer(&fulcrum_answers::events::queues(&queue, requests, notes))?;
    } else {
        terminal::print(&as_text(&trace, &queue, shown, Style::stdout()))?;
    }
    Ok(if queue.requests.is_empty() {
        NOTHING
    } else {
        DONE
    })
}

fn as_text(trace: &Trace, queue: &Queue, shown: usize, style: Style) -> String {
    let mut out = requests(trace, queue, shown, style);
    out += &style.more(queue.requests.len(), shown);
    out += &sums(queue, style);
    out += &style.aside(&queue.assumed());
    out + &style.notes(&notes(trace, &queue.notes))
}

fn requests(trace: &Trace, queue: &Queue, shown: usize, style: Style) -> String {
    let time = |ns: u64| style.nanoseconds(ns);
    let optional = |ns: Option<u64>| ns.map_or_else(|| "-".into(), time);
    let thread = |id: u32| trace.thread(id).map_or("?", |it| &it.name).to_owned();
    let mut table = Table::default();
    let right = ["no.", "put", "length", "wait", "length", "service"].map(Cell::right);
    let heads = right
        .into_iter()
        .chain([Cell::left("put by"), Cell::left("taken by")]);
    let several = queue.queues.len() > 1;
    let heads = heads.chain(several.then(|| Cell::left("queue")));
    table.row(heads.map(|cell| cell.colour(Some(Colour::Dim))).collect());
    let cells = |it: &Request| {
        let mut cells = vec![
            Cell::right(match it.sure {
                true => it.number.to_string(),
                false => format!("{}?", it.number),
            }),
            Cell::right(time(it.enqueue_ns)),
            Cell::right(format!("#{}", it.put_length)),
            Cell::right(optional(it.wait_ns())),
            Cell::right(
                it.take
                    .map_or_else(|| "-".into(), |take| format!("#{}", take.length)),
            ),
            Cell::right(optional(it.service_ns())),
            Cell::left(thread(it.put_thread)),
            Cell::left(
                it.take
                    .map_or_else(|| "-".into(), |take| thread(take.thread)),
            ),
        ];
        let queue = it.queue.map_or_else(|| "-".into(), |it| format!("#{it}"));
        cells.extend(several.then(|| Cell::left(queue)));
        cells
    };
    for request in queue.requests.iter().take(shown) {
        table.row(cells(request));
    }
    table.render(style)
}

fn sums(queue: &Queue, style: Style) -> String {
    let sums = queue.summary();
    let seconds = |it: Option<f64>| {
        it.map_or_else(
            || "-".into(),
            |it| style.quantity((it * 1e9).round() as i64, "ns"),
        )
    };
    let mut out = format!("\n{} put, {} taken", sums.put, sums.taken);
    if let Some(rate) = sums.arrival_rate {
        out += &format!(", {rate:.3} a second");
    }
    out += &format!(
        "; wait {} on average, {} at most; service {}; at most {} in the queue\n",
        seconds(sums.wait_mean),
        seconds(sums.wait_max),
        seconds(sums.service_mean),
        sums.length_max
    );
    out
}
