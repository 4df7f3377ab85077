//! The parts of a query and the fields of rows, for `fulcrum events query --help`.

use fulcrum_events::query::fields;

/// The text below the options.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "A query has these parts, each optional:\n  \
         CONDITION                     method ~ \"ThreadPool\\.\" and wall > 1ms and thread = \"Dispatcher*\"\n  \
         group by KEY, …               method, class, thread, …, or bucket(start, 100ms)\n  \
         select COLUMN, …              wall, count, sum(wall), mean(self), min, max, stddev, median, p99(wall), …\n  \
         order by COLUMN [asc|desc]\n  \
         limit N\n\n\
         Texts: = and != compare, where * matches anything; ~ and !~ search for a regular expression; in (A, B) means one of these.\n\
         Numbers: = != < <= > >=, with a unit: ns us ms s min, B kB MB GB. Conditions: and, or, not, ( ).\n\
         Percentiles are the nearest rank; above 4096 values they are exact to 0.4 %.\n\nFields:\n",
    );
    for (name, unit, meaning) in fields() {
        let unit = match unit {
            "ns" => " (time)",
            "bytes" => " (size)",
            "" => " (number)",
            _ => "",
        };
        text += &format!("  {name:<11} {meaning}{unit}\n");
    }
    text
}
