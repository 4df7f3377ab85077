//! `fulcrum transactions what-if`: how long transactions would take without some waits, or without some work.

use fulcrum_answers::quantity::grouped;
use fulcrum_answers::what_if::{Vanishing, gain, what_if as predicted};
use fulcrum_schema::{TransactionsWhatIf, WhatIfTime, WhatIfTimes, WhatIfType};

use super::args::WhatIfArgs;
use super::brief::brief;
use super::open::open_with_timeline;
use crate::outcome::{DONE, Failure, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};

/// Shows response times as they were, and as they would be.
pub(crate) fn what_if(args: &WhatIfArgs) -> Outcome {
    let run = open_with_timeline(&args.selection)?;
    let vanishing = Vanishing {
        waits: args.waits.as_deref(),
        holds: args.holds.as_deref(),
        at: args.at.as_deref(),
        skip: &args.skip,
        program: args.program.as_deref(),
    };
    let found = predicted(&run.stitched, &run.timeline, &vanishing, run.notes);
    let found = found.map_err(Failure::NotFound)?;
    match args.json {
        true => terminal::answer(&found)?,
        false => terminal::print(&table(&found, args.top, Style::stdout()))?,
    }
    Ok(DONE)
}

fn table(found: &TransactionsWhatIf, top: usize, style: Style) -> String {
    let most = if top == 0 { usize::MAX } else { top };
    let mut table = Table::default();
    let heads = ["count", "mean", "p50", "p95", "p99"].map(Cell::right);
    let names = ["change", "transaction"].map(Cell::left);
    let heads = heads.into_iter().chain(names);
    table.row(heads.map(|it| it.colour(Some(Colour::Dim))).collect());
    for it in found.types.iter().take(most) {
        table.row(row(it, style));
    }
    table.render(style) + &style.more(found.types.len(), most) + &style.notes(&found.notes)
}

fn row(it: &WhatIfType, style: Style) -> Vec<Cell> {
    let time = |of: fn(&WhatIfTimes) -> WhatIfTime| {
        let [now, predicted] = [&it.now, &it.predicted].map(|it| of(it).ns.round() as u64);
        let now_text = style.nanoseconds(now);
        Cell::right(match now == predicted {
            true => now_text,
            false => {
                let arrow = if style.unicode { "→" } else { "->" };
                format!("{now_text} {arrow} {}", style.nanoseconds(predicted))
            }
        })
    };
    vec![
        Cell::right(grouped(it.count)),
        time(|it| it.mean),
        time(|it| it.p50),
        time(|it| it.p95),
        time(|it| it.p99),
        Cell::left(style.plain(gain(it).unwrap_or_else(|| "-".into()))),
        Cell::left(brief(&it.name)).colour(Some(Colour::Strong)),
    ]
}
