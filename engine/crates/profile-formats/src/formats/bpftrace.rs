//! bpftrace's maps of stacks (`@[kstack, ustack, comm] = count()`): the keys of an entry in brackets, of which a stack has a line
//! for each frame, innermost first, and the entry's value after them.
//!
//! Libraries: none found.

use fulcrum_model::text::counted;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks, check_types};
use crate::collect::symbols::bracketed;
use crate::collect::units::value;
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};

/// Entries between two progress reports.
const PROGRESS_STEP: usize = 1 << 10;

/// An entry of a map.
#[derive(Default)]
struct Entry<'t> {
    /// Where it begins, from 1.
    line: usize,
    /// The map's name without its `@`, often empty.
    map: &'t str,
    /// Innermost first.
    frames: Vec<&'t str>,
    /// The other keys.
    keys: String,
    /// `None` for histograms and statistics, which have several numbers.
    value: Option<i64>,
}

impl<'t> Entry<'t> {
    /// Adds keys that stand between stacks, before the first one or after the last one.
    fn add_keys(&mut self, text: &'t str) {
        for key in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            if !self.keys.is_empty() {
                self.keys.push_str(", ");
            }
            self.keys.push_str(key);
        }
    }

    /// Takes the line that ends the entry. Returns false for any other line.
    fn end(&mut self, line: &'t str) -> Result<bool, Fault> {
        let Some((last, value)) = line.rsplit_once("]:") else {
            return Ok(false);
        };
        self.add_keys(last);
        let value = value.trim();
        self.value = value.parse().ok();
        let digits = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
        if self.value.is_none() && digits {
            let problem = format!("the value {} is too large", quote(value));
            return Err(Fault::whole(problem));
        }
        Ok(true)
    }
}

/// Detects the line that begins an entry with a stack.
pub(crate) fn detect(input: &Input) -> bool {
    input.first_lines().any(|(_, line)| begins_stack(line))
}

/// Reads a profile: a value type for each map that has stacks.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut maps = Vec::new();
    each_entry(input.text(), |_, entry| {
        if entry.value.is_some() && !maps.contains(&entry.map) {
            maps.push(entry.map);
            check_types(maps.len())?;
        }
        Ok(())
    })?;
    if maps.is_empty() {
        maps.push("");
    }
    let types = maps.iter().map(|&map| match map {
        "" => value("samples", "count"),
        name => value(name, "count"),
    });
    let mut stacks = Stacks::new(types.collect(), 0)?;
    let (mut read, mut unread) = (0_usize, 0_usize);
    let left = each_entry(input.text(), |line, entry| {
        if read.is_multiple_of(PROGRESS_STEP) {
            input.read_until_line(line)?;
        }
        read += 1;
        let column = maps.iter().position(|&map| map == entry.map);
        let (Some(column), Some(value)) = (column, entry.value) else {
            unread += 1;
            return Ok(());
        };
        let mut values = vec![0; maps.len()];
        values[column] = value;
        let frames = entry.frames.iter().rev();
        let stack: Result<Vec<_>, _> = frames.map(|text| frame(text, &mut stacks)).collect();
        let container = match &*entry.keys {
            "" => None,
            keys => Some(stacks.container(keys)?),
        };
        stacks.add_in(container, &stack?, &values)
    })?;
    if left.without_stacks > 0 {
        stacks.note(format!(
            "{} entries of maps without stacks are left out.",
            left.without_stacks
        ));
    }
    if let Some(line) = left.open {
        stacks.note(format!(
            "{} no value, as when the file is cut short: left out. The first begins in line {line}.",
            counted(left.without_values, "stack has", "stacks have")
        ));
    }
    if unread > 0 {
        stacks.note(format!(
            "{unread} stacks are left out: they have histograms or statistics, of which no number is a cost."
        ));
    }
    stacks.finish(Format::Bpftrace)
}

/// Entries that are left out.
#[derive(Default)]
struct LeftOut {
    /// How many are of maps without stacks.
    without_stacks: usize,
    /// How many have no value.
    without_values: u64,
    /// Where the first one of these begins.
    open: Option<usize>,
}

impl LeftOut {
    fn unended(&mut self, entry: &Entry<'_>) {
        self.without_values += 1;
        self.open.get_or_insert(entry.line);
    }
}

/// Whether a line begins an entry whose first key is a stack.
fn begins_stack(line: &str) -> bool {
    begin(line.trim_end()).is_some_and(|(_, keys)| keys.is_empty() || keys.ends_with(','))
}

/// Calls `then` with the last line of each entry that has a stack, and the entry. Returns what is left out.
fn each_entry<'t>(
    text: &'t str,
    mut then: impl FnMut(&'t str, &Entry<'t>) -> Result<(), Fault>,
) -> Result<LeftOut, Fault> {
    let mut left = LeftOut::default();
    let mut entry = Entry::default();
    let mut inside = false;
    for (number, line) in lines(text) {
        let mut ended = false;
        if inside && begins_stack(line) {
            left.unended(&entry);
            inside = false;
        }
        if inside {
            ended = entry.end(line).map_err(|it| it.at_line(number))?;
            if !ended && line.starts_with(',') {
                entry.add_keys(line);
            } else if !ended && !line.trim().is_empty() {
                entry.frames.push(line.trim());
            }
        } else if let Some((map, keys)) = begin(line) {
            entry.line = number;
            entry.map = map;
            entry.frames.clear();
            entry.keys.clear();
            inside = true;
            ended = entry.end(keys).map_err(|it| it.at_line(number))?;
            // A stack without frames leaves an empty key.
            if ended && !keys.starts_with([',', ']']) {
                left.without_stacks += 1;
                inside = false;
            } else if !ended {
                entry.add_keys(keys);
            }
        }
        if inside && ended {
            inside = false;
            then(line, &entry).map_err(|it| it.at_line(entry.line))?;
        }
    }
    if inside {
        left.unended(&entry);
    }
    Ok(left)
}

/// The map of an entry and what is after its bracket.
fn begin(line: &str) -> Option<(&str, &str)> {
    let (map, keys) = line.strip_prefix('@')?.split_once('[')?;
    let is_name = map
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'_');
    is_name.then_some((map, keys))
}

/// A frame `function+12`, and with `perf` as the stacks' mode `7f12ab function+12 (/lib/file)`. Code without a name is `0x7f12ab`.
fn frame(text: &str, stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let is_address = |word: &str| {
        let hexadecimal = word.bytes().all(|it| it.is_ascii_hexdigit());
        word.len() >= 6 && hexadecimal && word.bytes().any(|it| it.is_ascii_digit())
    };
    let text = match text.split_once(' ') {
        Some((address, rest)) if is_address(address) => rest.trim_start(),
        _ => text,
    };
    // Functions have parentheses, too, but before the offset.
    let place = text.strip_suffix(')').and_then(|it| it.rsplit_once(" ("));
    let (function, module) = match place {
        Some((function, module)) if offset(function).is_some() || is_unnamed(function) => {
            (function, module)
        }
        _ => (text, ""),
    };
    let function = offset(function).unwrap_or(function);
    match is_unnamed(function) && !module.is_empty() && module != "[unknown]" {
        true => stacks.frame_in(&bracketed(module), "", 0, module),
        false => stacks.frame_in(function, "", 0, module),
    }
}

/// The function before an offset.
fn offset(text: &str) -> Option<&str> {
    let (function, offset) = text.rsplit_once('+')?;
    let is_number = match offset.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|it| it.is_ascii_hexdigit()),
        None => offset.bytes().all(|it| it.is_ascii_digit()),
    };
    (is_number && !offset.is_empty() && !function.is_empty()).then_some(function)
}

fn is_unnamed(function: &str) -> bool {
    function == "[unknown]" || function.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const TEXT: &str = "\
Attaching 2 probes...
^C

@[
    _raw_spin_lock+0
    tcp_recvmsg+808
    do_syscall_64+115
]: 2
@[
    cpuidle_enter_state+153
    do_idle+3
]: 41
";

    #[test]
    fn stacks_have_the_values_after_them() {
        let expect = "samples* 43
             do_idle 0
             do_idle;cpuidle_enter_state 41
             do_syscall_64 0
             do_syscall_64;tcp_recvmsg 0
             do_syscall_64;tcp_recvmsg;_raw_spin_lock 2";
        check(TEXT, expect);
        // Older versions did not indent.
        check(TEXT.replace("    ", ""), expect);
    }

    #[test]
    fn other_keys_are_containers() {
        check(
            "@[
    vfs_read+142
    entry_SYSCALL_64_after_hwframe+61
, 
    __GI___libc_read+18
    main+9
, dd, 17]: 5
@[cat, 
    vfs_read+142
]: 3
@[, idle]: 4
",
            "samples* 12
             {cat} 0
             {cat};vfs_read 3
             {dd, 17} 0
             {dd, 17};main 0
             {dd, 17};main;__GI___libc_read 0
             {dd, 17};main;__GI___libc_read;entry_SYSCALL_64_after_hwframe 0
             {dd, 17};main;__GI___libc_read;entry_SYSCALL_64_after_hwframe;vfs_read 5
             {idle} 0
             {idle};[no stack] 4",
        );
    }

    #[test]
    fn each_map_with_stacks_is_a_value_type() {
        check(
            "@start[17]: 99
@calls[
    work+1
]: 3
@bytes[
    work+1
]: 4096
@sizes[
    work+1
]: 
[1]                    3 |@@@@@@@@@@@@@@@|

",
            "calls* 3
             bytes 4096
             work 3 4096
             note: 1 entries of maps without stacks are left out.
             note: 1 stacks are left out: they have histograms or statistics, of which no number is a cost.",
        );
    }

    #[test]
    fn frames_have_their_files_in_the_mode_of_perf() {
        check(
            "@[
        7f3a10c2 __read+18 (/usr/lib/libc.so.6)
        55d001a3 shop::pay(int)+31 (/bin/app)
        55d00207 0x55d00207 (/bin/app)
        0x7fff1234
        shop::total(int, std::map<int, int>)
]: 6
",
            "samples* 6
             shop::total(int, std::map<int, int>) 0
             shop::total(int, std::map<int, int>);0x7fff1234 0
             shop::total(int, std::map<int, int>);0x7fff1234;[app] 0
             shop::total(int, std::map<int, int>);0x7fff1234;[app];shop::pay(int) 0
             shop::total(int, std::map<int, int>);0x7fff1234;[app];shop::pay(int);__read 6",
        );
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let rest = "do_syscall_64 0
             do_syscall_64;tcp_recvmsg 0
             do_syscall_64;tcp_recvmsg;_raw_spin_lock";
        let note = "1 stack has no value, as when the file is cut short: left out. The first begins in line";
        check(
            TEXT.replace("]: 41\n", ""),
            &format!("samples* 2\n{rest} 2\nnote: {note} 9."),
        );
        // What follows is not a part of it.
        check(
            TEXT.replace("]: 2\n", ""),
            &format!("samples* 41\ndo_idle 0\ndo_idle;cpuidle_enter_state 41\nnote: {note} 4."),
        );
        check_fault("@[\n    f+1\n", 0, "the profile has no samples");
        check_fault(
            TEXT.replace("41", "93000000000000000000"),
            12,
            "the value \"93000000000000000000\" is too large",
        );
        check_fault("@[\n    f+1\n]: \n", 0, "the profile has no samples");
    }
}
