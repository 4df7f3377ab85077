//! Tables copied from Instruments with *Edit > Deep Copy*: columns separated by tabs, the last of which is a tree by
//! indentation.
//!
//! Libraries: none found.

use fulcrum_model::call_tree::ValueType;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::Parents;
use crate::collect::stacks::Stacks;
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};

/// Lines between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// Titles of the column with the cost of a call and its callees.
const WEIGHTS: [&str; 3] = ["Weight", "Running Time", "Bytes Used"];
/// Titles of the column with a call's own cost, and the unit if the title has it.
const OWN: [(&str, &str); 3] = [("Self Weight", ""), ("Self (ms)", "ms"), ("Self (s)", "s")];
/// Titles of the column with the tree.
const NAMES: [&str; 2] = ["Symbol Name", "Symbol Names"];

/// The positions of the columns.
struct Columns {
    weight: usize,
    own: Option<(usize, &'static str)>,
    /// The number of allocations, beside the bytes.
    count: Option<usize>,
    name: usize,
}

impl Columns {
    fn of(header: &str) -> Option<Self> {
        let titles: Vec<_> = header.split('\t').map(str::trim).collect();
        let find = |names: &[&str]| {
            let is = |title: &&str| names.iter().any(|name| title == name);
            titles.iter().position(is)
        };
        Some(Columns {
            weight: find(&WEIGHTS)?,
            own: OWN
                .iter()
                .find_map(|&(title, unit)| Some((find(&[title])?, unit))),
            count: find(&["Count"]),
            name: find(&NAMES)?,
        })
    }
}

/// Detects the line of titles.
pub(crate) fn detect(input: &Input) -> bool {
    let first = input.first_lines().next();
    first.is_some_and(|(_, line)| Columns::of(line).is_some())
}

/// A line of the table.
struct Row {
    line: usize,
    depth: usize,
    parent: Option<usize>,
    /// With the callees.
    values: [i64; 2],
    /// Without the callees.
    own: [i64; 2],
}

/// Reads a table.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut rest = lines(input.text()).filter(|(_, line)| !line.trim().is_empty());
    let columns = rest.next().and_then(|(_, header)| Columns::of(header));
    let columns = columns.ok_or_else(|| {
        Fault::line(
            1,
            "expected the titles of a table that Instruments copied, with Symbol Name",
        )
    })?;
    let mut unit = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut names = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (number, line) in rest {
        if number.is_multiple_of(PROGRESS_STEP) {
            input.read_until_line(line)?;
        }
        let (row, name) = row(line, number, &columns, &mut unit)?;
        // The first line may be indented too.
        let first = rows.first().map_or(row.depth, |it| it.depth);
        let depth = row.depth.saturating_sub(first);
        if depth > open.len() {
            return Err(Fault::line(
                number,
                "expected the caller of this call before it",
            ));
        }
        open.truncate(depth);
        let parent = open.last().copied();
        open.push(rows.len());
        if let Some(parent) = parent.filter(|_| columns.own.is_none()) {
            for (own, value) in rows[parent].own.iter_mut().zip(row.values) {
                *own = own.saturating_sub(value);
            }
        }
        names.push(name);
        rows.push(Row { parent, ..row });
    }
    let mut types = vec![unit.unwrap_or(Unit::Time).value()];
    if columns.count.is_some() {
        types.push(value("count", "count"));
    }
    collect(&rows, &names, types)
}

fn collect(rows: &[Row], names: &[&str], types: Vec<ValueType>) -> Result<Collected, Fault> {
    let width = types.len();
    let mut stacks = Stacks::new(types, 0)?;
    let mut parents = Parents::new(width);
    let mut exceeding = 0_u64;
    for (n, (row, name)) in rows.iter().zip(names).enumerate() {
        parents.push(stacks.frame(name, "", 0)?, row.parent.map(|it| it as u32));
        exceeding += u64::from(row.own[0] < 0);
        for kind in 0..width {
            let added = parents.add(n, kind, row.own[kind].max(0));
            added.map_err(|fault| fault.at_line(row.line))?;
        }
    }
    if exceeding > 0 {
        stacks.note(format!(
            "Instruments rounds: the callees of {exceeding} calls are shown with more than the calls themselves, and stay as they are."
        ));
    }
    parents.drain_into(None, &mut stacks)?;
    stacks.finish(Format::Instruments)
}

/// What weights count.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Nanoseconds.
    Time,
    Cycles,
    Bytes,
    /// Anything else.
    Count,
}

impl Unit {
    fn value(self) -> ValueType {
        match self {
            Unit::Time => value("time", "ns"),
            Unit::Cycles => value("cycles", "count"),
            Unit::Bytes => value("size", "bytes"),
            Unit::Count => value("weight", "count"),
        }
    }

    /// The unit that a word stands for, and the factor to it.
    fn of(word: &str) -> Option<(Self, f64)> {
        Some(match word {
            "ns" => (Unit::Time, 1.0),
            "µs" | "us" => (Unit::Time, 1e3),
            "ms" => (Unit::Time, 1e6),
            "s" => (Unit::Time, 1e9),
            "min" => (Unit::Time, 60e9),
            "h" => (Unit::Time, 3600e9),
            "cycles" | "c" => (Unit::Cycles, 1.0),
            "Kc" => (Unit::Cycles, 1e3),
            "Mc" => (Unit::Cycles, 1e6),
            "Gc" => (Unit::Cycles, 1e9),
            "Bytes" | "B" => (Unit::Bytes, 1.0),
            "KB" | "KiB" => (Unit::Bytes, 1024.0),
            "MB" | "MiB" => (Unit::Bytes, 1_048_576.0),
            "GB" | "GiB" => (Unit::Bytes, 1_073_741_824.0),
            "" => (Unit::Count, 1.0),
            _ => return None,
        })
    }
}

/// Reads a line: the row and the function's name. The first weight decides the unit of all.
fn row<'l>(
    line: &'l str,
    number: usize,
    columns: &Columns,
    unit: &mut Option<Unit>,
) -> Result<(Row, &'l str), Fault> {
    let cells: Vec<_> = line.split('\t').collect();
    let wrong = |what: &str, found: &str| {
        Fault::line(number, format!("expected {what}, got {}", quote(found)))
    };
    let (weight, name) = match (cells.get(columns.weight), cells.get(columns.name)) {
        (Some(weight), Some(name)) if !name.trim().is_empty() => (*weight, *name),
        _ => return Err(wrong("a weight and a name, with tabs between them", line)),
    };
    let (kind, mut amount) =
        amount(weight).ok_or_else(|| wrong("a weight such as 4.93 s  99.9%", weight))?;
    let of = *unit.get_or_insert(kind);
    if of != kind {
        // Zero is zero in every unit.
        if amount != 0.0 {
            return Err(wrong("a weight in the unit of those before", weight));
        }
        amount = 0.0;
    }
    let count = match columns.count.and_then(|at| cells.get(at)) {
        Some(count) => {
            let count = count.trim().parse::<f64>();
            count.map_err(|_| wrong("a count", line))?
        }
        None => 0.0,
    };
    let own = match columns
        .own
        .and_then(|(at, unit)| Some((cells.get(at)?, unit)))
    {
        Some((text, title)) => {
            own(text, title, of).ok_or_else(|| wrong("a weight such as 4.93 s", text))?
        }
        None => amount,
    };
    let round = |value: f64| whole(value, 1.0).map_err(|fault| fault.at_line(number));
    let (values, own) = (
        [round(amount)?, round(count)?],
        [round(own)?, round(count)?],
    );
    let depth = name.len() - name.trim_start_matches(' ').len();
    let row = Row {
        line: number,
        depth,
        parent: None,
        values,
        own,
    };
    Ok((row, name.trim()))
}

/// The own cost of a call. Zero is zero in every unit.
fn own(text: &str, title: &str, unit: Unit) -> Option<f64> {
    let text = text.trim();
    if text == "-" || text.is_empty() {
        return Some(0.0);
    }
    let (kind, amount) = amount(&format!("{text}{title}"))?;
    (kind == unit || amount == 0.0).then_some(amount)
}

/// The amount at the beginning of `96.08 Gc  100.0%` or `4273.0ms   99.9%`, in our unit.
fn amount(text: &str) -> Option<(Unit, f64)> {
    let text = text.trim();
    let end = text
        .find(|it: char| !it.is_ascii_digit() && it != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let rest = text[end..].trim_start();
    let word = rest
        .split([' ', '\u{2007}', '\u{a0}'])
        .next()
        .unwrap_or_default();
    // A count is followed by the share alone.
    let word = if word.ends_with('%') { "" } else { word };
    let (unit, scale) = Unit::of(word)?;
    Some((unit, number * scale))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    #[test]
    fn every_version_of_instruments_is_read() {
        check(
            "Running Time\tSelf (ms)\t\tSymbol Name\n4273.0ms   99.9%\t0\t \tstart\n4273.0ms   99.9%\t0\t \t main\n\
             2126.0ms   49.7%\t693\t \t  delta()\n713.0ms   16.6%\t696\t \t   alpha()\n17.0ms    0.3%\t1\t \t  beta()\n",
            "time ns* 1390000000
             start 0
             start;main 0
             start;main;beta() 1000000
             start;main;delta() 693000000
             start;main;delta();alpha() 696000000",
        );
        check(
            "Weight\tSelf Weight\tSymbol Names\n4.93 s  100.0%\t0 s\t   start\n4.93 s  99.9%\t0 s\t    main\n\
             2.45 s  \u{2007}0.0%\t846.00 ms\t     delta()\n900.5 ms  0.0%\t1.5 s\t      alpha()\n0 s  0.0%\t0 s\t       beta()\n",
            "time ns* 2346000000
             start 0
             start;main 0
             start;main;delta() 846000000
             start;main;delta();alpha() 1500000000
             start;main;delta();alpha();beta() 0",
        );
        check(
            "Weight\tSelf Weight\t\tSymbol Name\n96.08 Gc  100.0%\t-\t \tapp (40414)\n404.75 Mc    0.6%\t404.75 Mc\t \t main\n",
            "cycles* 404750000
             app (40414) 0
             app (40414);main 404750000",
        );
        check(
            "Bytes Used\tCount\t\tSymbol Name\n   2.50 KB     100.0%\t84\t \tstart\n 512 Bytes      20.0%\t4\t \t main\n",
            "size bytes* 2560
             count 84
             start 2048 80
             start;main 512 4",
        );
    }

    #[test]
    fn wrong_lines_are_errors() {
        let head = "Weight\tSelf Weight\t\tSymbol Name\n4.00 s  100.0%\t0 s\t \tstart\n";
        for (line, expect) in [
            (
                "4.00 s\tmain",
                "expected a weight and a name, with tabs between them, got \"4.00 s\\tmain\"",
            ),
            (
                "x s  9%\t0 s\t \t main",
                "expected a weight such as 4.93 s  99.9%, got \"x s  9%\"",
            ),
            (
                "4 KB  9%\t0 s\t \t main",
                "expected a weight in the unit of those before, got \"4 KB  9%\"",
            ),
            (
                "4 s  9%\t0 s\t \t   main",
                "expected the caller of this call before it",
            ),
        ] {
            check_fault(format!("{head}{line}\n"), 3, expect);
        }
    }

    #[test]
    fn calls_that_are_rounded_up_are_told() {
        check(
            "Weight\t\tSymbol Name\n1.00 s  100.0%\t \tstart\n1.01 s  100.0%\t \t main\n",
            "time ns* 1010000000
             start 0
             start;main 1010000000
             note: Instruments rounds: the callees of 1 calls are shown with more than the calls themselves, and stay as they are.",
        );
    }
}
