//! gprof's text: the call graph, or the flat profile when there is no call graph.
//!
//! Libraries: none found.

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::graphs::Graphs;
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};
use crate::decode::wrong_lines::WrongLines;

/// Detects gprof's headings, also those of the traditional style.
pub(crate) fn detect(input: &Input) -> bool {
    input.first_lines().any(|(_, line)| {
        let line = line.trim();
        ["Flat profile:", "call graph profile:"].contains(&line) || is_graph_head(line)
    })
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let has_graph = lines(input.text()).any(|(_, line)| is_graph_head(line.trim()));
    let cycles = section(input.text(), is_graph_head).find_map(|(_, line)| cycles(line));
    let mut graphs = Graphs::new(vec![match cycles {
        Some(_) => value("cycles", "count"),
        None => value("time", "ns"),
    }]);
    let mut wrong = WrongLines::default();
    let mut right = 0;
    if has_graph {
        let records = section(input.text(), is_graph_head);
        let records = records.filter(|(_, line)| self::cycles(line).is_none());
        right = graph(
            records,
            cycles.unwrap_or(NANOSECONDS),
            &mut graphs,
            &mut wrong,
        )?;
    } else {
        for (number, line) in section(input.text(), is_flat_head) {
            match flat(line) {
                Ok((own, name)) => {
                    let row = graphs.function(name, "")?;
                    graphs.add_base(row, &[own])?;
                    right += 1;
                }
                Err(fault) => wrong.leave_out(number, || fault.problem),
            }
        }
        graphs
            .notes
            .push("The file has no call graph, only a flat profile.".into());
    }
    graphs.notes.extend(wrong.note(right)?);
    graphs.finish(Format::Gprof)
}

/// Nanoseconds in a second.
const NANOSECONDS: f64 = 1e9;

fn is_graph_head(line: &str) -> bool {
    let traditional = || line.contains("%time") && line.contains("descend");
    // Tensilica's gprof has cycles instead of time.
    let has = |words: &[&str]| words.iter().all(|word| line.contains(word));
    line.starts_with("index") && (has(&["%", "self", "children", "called"]) || traditional())
}

/// The number of cycles in a unit, from the line `(K) (K)` below Tensilica's heading.
fn cycles(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    let unit = words.next()?;
    words.all(|word| word == unit).then_some(())?;
    match unit {
        "(K)" => Some(1e3),
        "(M)" => Some(1e6),
        "(G)" => Some(1e9),
        _ => None,
    }
}

fn is_flat_head(line: &str) -> bool {
    line.starts_with("time") && line.contains("seconds") && line.ends_with("name")
}

/// The lines of a table: from its heading to the explanation or the end.
fn section(text: &str, head: fn(&str) -> bool) -> impl Iterator<Item = (usize, &str)> {
    lines(text)
        .skip_while(move |(_, line)| !head(line.trim()))
        .skip(1)
        .take_while(|(_, line)| {
            let line = line.trim_start_matches(' ');
            let ends = [
                "\u{c}",
                "%",
                "This table describes",
                "Index by function",
                "granularity:",
            ];
            !ends.iter().any(|end| line.starts_with(end))
        })
        .filter(|(_, line)| !line.trim().is_empty())
}

/// One line of an entry of the call graph.
struct Entry<'a> {
    own: i64,
    below: i64,
    name: &'a str,
    /// `[12]`
    index: &'a str,
}

/// Reads the entries of the call graph. Returns how many lines were read.
fn graph<'a>(
    records: impl Iterator<Item = (usize, &'a str)>,
    scale: f64,
    graphs: &mut Graphs,
    wrong: &mut WrongLines,
) -> Result<u64, Fault> {
    let mut right = 0;
    // The function whose callees follow.
    let mut caller = None;
    let mut callees = false;
    // The function is wrong.
    let mut lost = false;
    for (number, line) in records {
        if line.starts_with("---") {
            callees = false;
            lost = false;
            caller = None;
            continue;
        }
        // The rest of the heading of `gprof -T`.
        if line.trim_start().starts_with("called/total") {
            continue;
        }
        let is_primary = line.starts_with('[');
        // A caller's line repeats what the caller's own entry says.
        if !is_primary && !callees {
            continue;
        }
        callees = true;
        let entry = match entry(line, is_primary, scale) {
            Ok(entry) => entry,
            Err(fault) => {
                // Of a wrong function, the callees are left out too.
                wrong.leave_out(number, || fault.problem);
                lost |= is_primary;
                continue;
            }
        };
        if lost {
            wrong.leave_out_too(1);
            continue;
        }
        right += 1;
        let Some(entry) = entry else {
            continue;
        };
        let row = graphs.function(entry.name, entry.index)?;
        let total = entry.own.saturating_add(entry.below);
        if is_primary {
            caller = Some(row);
            graphs.add_base(row, &[entry.own])?;
            graphs.set_cum(row, &[total]);
        } else if let Some(caller) = caller {
            graphs.add_call(caller, row, Some(&[entry.own]), &[total])?;
        }
    }
    Ok(right)
}

/// Reads `[1] 100.0 0.00 0.05 3+1 name [1]`; a callee's line lacks the first two columns. Returns `None` for a line without
/// costs and for a whole cycle.
fn entry(line: &str, is_primary: bool, scale: f64) -> Result<Option<Entry<'_>>, Fault> {
    let wrong = || {
        let line = quote(line.trim());
        Fault::whole(format!("expected a line of gprof's call graph, got {line}"))
    };
    let mut rest = line.trim();
    let mut word = || {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        word
    };
    if is_primary {
        word();
        word();
    }
    let (own, below) = (word(), word());
    // Recursive calls and calls inside a cycle have a count and no costs.
    if !own.contains('.') && !is_primary && is_count(own) {
        return Ok(None);
    }
    let (own, below) = (scaled(own, scale), scaled(below, scale));
    let (Some(own), Some(below)) = (own, below) else {
        return Err(wrong());
    };
    let count = rest.split_whitespace().next().unwrap_or("");
    if is_count(count) {
        rest = rest[count.len()..].trim_start();
    }
    let (name, index) = rest.rsplit_once(" [").ok_or_else(wrong)?;
    let name = match name.rsplit_once(" <cycle ") {
        Some((before, _)) => before.trim_end(),
        None => name.trim_end(),
    };
    let whole = name.starts_with("<cycle ");
    Ok((!whole).then_some(Entry {
        own: own?,
        below: below?,
        name,
        index,
    }))
}

/// Whether a text is a count of calls: `7`, `3/7`, `8+4`.
fn is_count(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit();
    text.bytes().next().is_some_and(digit)
        && text
            .bytes()
            .all(|byte| digit(byte) || b"/+".contains(&byte))
}

fn scaled(text: &str, scale: f64) -> Option<Result<i64, Fault>> {
    Some(whole(text.parse().ok()?, scale))
}

/// Reads `33.34 0.02 0.02 7208 0.00 0.00 name`. The middle columns are missing for functions that were not instrumented.
fn flat(line: &str) -> Result<(i64, &str), Fault> {
    let wrong = || {
        let line = quote(line.trim());
        Fault::whole(format!(
            "expected a line of gprof's flat profile, got {line}"
        ))
    };
    let mut rest = line.trim();
    let mut numbers = Vec::new();
    while numbers.len() < 6 {
        let Some((word, after)) = rest.split_once(char::is_whitespace) else {
            break;
        };
        if word.parse::<f64>().is_err() {
            break;
        }
        numbers.push(word);
        rest = after.trim_start();
    }
    let own = numbers.get(2).and_then(|own| scaled(own, NANOSECONDS));
    Ok((own.ok_or_else(wrong)??, rest))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    #[test]
    fn tensilica_counts_cycles() {
        check(
            "Flat profile:\n\n\x0c\n\t\t     Call graph (explanation follows)\n\n\
             index    %      self  children    called     name\n\
             \x20               (K)     (K) \n\
             [1]    100.0    0.04 53.83                 main [1]\n\
             \x20               0.16 53.67       1/1           f [2]\n\
             -----------------------------------------------\n\
             \x20               0.16 53.67       1/1           main [1]\n\
             [2]     99.9    0.16 53.67       1         f [2]\n",
            "cycles*
             main 40/53870
             f 160/53830
             main > f 160/53830",
        );
    }

    #[test]
    fn the_traditional_style_is_read_too() {
        // gprof -T
        check(
            "call graph profile:\n          The sum of self and descendents is the major sort\n\n\
             granularity: each sample hit covers 2 byte(s) for 20.00% of 0.05 seconds\n\n                                  \
             called/total       parents \nindex  %time    self descendants  called+self    name    \tindex\n\
             \x20                                 called/total       children\n\n\
             [1]    100.0    0.01        0.04       1         main [1]\n\
             \x20               0.03        0.01       2/2           work [2]\n\n\
             -----------------------------------------------\n\n\
             \x20               0.03        0.01       2/2           main [1]\n\
             [2]     80.0    0.03        0.01       2         work [2]\n\n\
             -----------------------------------------------\n\n\n\n\
             granularity: each sample hit covers 2 byte(s) for 20.00% of 0.05 seconds\n\n  \
             %   cumulative   self              self     total           \n",
            "time ns*
             main 10000000/50000000
             work 30000000/40000000
             main > work 30000000/40000000",
        );
    }

    const FLAT: &str = "\
Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total           
 time   seconds   seconds    calls  ms/call  ms/call  name    
 60.00      0.03     0.03     7208     0.00     0.00  work(int, char)
 40.00      0.05     0.02                             mcount

 %         the percentage of the total running time of the
";

    const GRAPH: &str = "\
\t\t     Call graph (explanation follows)

granularity: each sample hit covers 2 byte(s) for 20.00% of 0.05 seconds

index % time    self  children    called     name
                                                 <spontaneous>
[1]    100.0    0.00    0.05                 main [1]
                0.03    0.01       7/9           work(int, char) [2]
                0.01    0.00       1/1           a <cycle 1> [4]
-----------------------------------------------
                0.03    0.01       7/9           main [1]
                                   3             work(int, char) [2]
[2]     80.0    0.03    0.01       9+3       work(int, char) [2]
                0.01    0.00       2/2           leaf [5]
                                   3             work(int, char) [2]
-----------------------------------------------
[3]     20.0    0.01    0.00       1+2     <cycle 1 as a whole> [3]
                0.01    0.00       2             a <cycle 1> [4]
-----------------------------------------------
                0.01    0.00       2/2           work(int, char) [2]
[5]     20.0    0.01    0.00       2         leaf [5]
-----------------------------------------------

 This table describes the call tree of the program, and was sorted by
";

    #[test]
    fn the_call_graph_has_functions_and_calls() {
        check(
            GRAPH,
            "time ns*
             main 0/50000000
             work(int, char) 30000000/40000000
             a 0/10000000
             leaf 10000000/10000000
             main > work(int, char) 30000000/40000000
             main > a 10000000/10000000
             work(int, char) > leaf 10000000/10000000",
        );
    }

    #[test]
    fn a_flat_profile_alone_has_functions() {
        check(
            FLAT,
            "time ns*
             work(int, char) 30000000/30000000
             mcount 20000000/20000000
             note: The file has no call graph, only a flat profile.",
        );
    }

    #[test]
    fn wrong_lines_are_left_out() {
        let wrong = "0.0x    0.00       2/2           leaf";
        check(
            GRAPH.replace("0.01    0.00       2/2           leaf", wrong),
            "time ns*
             main 0/50000000
             work(int, char) 30000000/40000000
             a 0/10000000
             leaf 10000000/10000000
             main > work(int, char) 30000000/40000000
             main > a 10000000/10000000
             note: 1 line is wrong and left out. The first is line 14: expected a line of gprof's call graph, got \"0.0x    0.00       2/2           leaf [5…\".",
        );
        // Of a function that is wrong, the calls are left out too.
        check(
            GRAPH.replace("[2]     80.0    0.03", "[2]     80.0    0.0x"),
            "time ns*
             main 0/50000000
             work(int, char) 0/40000000
             a 0/10000000
             leaf 10000000/10000000
             main > work(int, char) 30000000/40000000
             main > a 10000000/10000000
             note: 3 lines are wrong and left out. The first is line 13: expected a line of gprof's call graph, got \"[2]     80.0    0.0x    0.01       9+3  …\".",
        );
        check(
            FLAT.replace("0.03     0.03", "0.03     -0.03"),
            "time ns*
             mcount 20000000/20000000
             note: The file has no call graph, only a flat profile.
             note: 1 line is wrong and left out. The first is line 6: expected a value of at least 0, got -0.03.",
        );
        check_fault(
            FLAT.replace("0.03     0.03", "0.03     -0.03")
                .replace("0.02  ", "-0.02 "),
            6,
            "expected a value of at least 0, got -0.03; 2 of 2 lines are wrong",
        );
    }
}
