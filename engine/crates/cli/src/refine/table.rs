//! The table of `fulcrum refine`.

use fulcrum_answers::quantity::grouped;
use fulcrum_recorder::{Ending, Estimate, Iteration, Refined};

use crate::terminal::{Cell, Colour, Style, Table};

/// A row for each iteration, then the result.
pub(crate) fn table(refined: &Refined, style: Style) -> String {
    let heads = [
        "iteration",
        "methods",
        "classes",
        "fired",
        "metered",
        "hotspots",
        "unit",
        "cpu",
        "baseline",
        "overhead",
        "cpu overhead",
    ];
    let mut table = Table::default();
    table.row(
        heads
            .map(|head| Cell::right(head).colour(Some(Colour::Dim)))
            .into(),
    );
    for row in &refined.iterations {
        table.row(cells(row, style).into_iter().map(Cell::right).collect());
    }
    let mut out = table.render(style);
    out += &style.notes(&refined.notes);
    let place = format!("{}, {}", Ending::from(refined), refined.filter.display());
    out + &style.paint(Colour::Strong, &place) + "\n"
}

fn cells(row: &Iteration, style: Style) -> Vec<String> {
    let time =
        |ns: Option<f64>| ns.map_or_else(|| "-".into(), |ns| style.quantity(ns as i64, "ns"));
    vec![
        row.number.to_string(),
        grouped(row.methods),
        grouped(row.classes),
        grouped(row.fired),
        grouped(row.metered),
        grouped(row.hotspots),
        time(row.wall_ns),
        time(row.cpu_ns),
        time(row.baseline_wall_ns),
        overhead(row.overhead, style),
        overhead(row.cpu_overhead, style),
    ]
}

/// `+2.1 % (−0.4…+4.6)`.
fn overhead(estimate: Option<Estimate>, style: Style) -> String {
    let Some(it) = estimate else {
        return "-".into();
    };
    let between = if style.unicode { "…" } else { ".." };
    let interval = it.interval.map(|it| {
        let bound = |it: f64| style.signed(it * 100.0, 1);
        format!(" ({}{between}{})", bound(it.low), bound(it.high))
    });
    style.percent(it.value) + &interval.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_model::Interval;

    #[test]
    fn a_table_of_two_iterations() {
        let first = Iteration {
            number: 1,
            methods: 7923,
            classes: 540,
            fired: 28_700_000,
            metered: 1_200_345,
            hotspots: 12,
            wall_ns: Some(88_000.0),
            baseline_wall_ns: Some(10_000.0),
            overhead: Some(Estimate {
                value: 7.8,
                interval: Some(Interval {
                    low: 7.5,
                    high: 8.125,
                }),
            }),
            ..Iteration::default()
        };
        let second = Iteration {
            number: 2,
            methods: 12,
            overhead: Some(Estimate {
                value: -0.004,
                interval: None,
            }),
            ..Iteration::default()
        };
        let refined = Refined {
            iterations: vec![first, second],
            stable: true,
            stopped: false,
            filter: "run/next.fulcrum-filter".into(),
            hotspots: vec!["a.B.c()V".into()],
            notes: vec!["A note.".into()],
        };
        let style = Style {
            colour: false,
            unicode: true,
            terminal: false,
        };
        let text = table(&refined, style);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines[1],
            "1    7,923      540  28,700,000  1,200,345        12  88.0 µs    -   10.0 µs  +780.0 % (+750.0…+812.5)             -"
        );
        assert!(lines[2].ends_with("−0.4 %             -"), "{}", lines[2]);
        assert_eq!(lines[3], "note: A note.");
        assert_eq!(
            lines[4],
            "the set is stable: 1 hotspot, run/next.fulcrum-filter"
        );
    }
}
