//! Contexts of a thousand characters, on a line of the terminal.

/// Longer names are made shorter.
const LONG: usize = 100;
/// The most stages of which none is left out.
const MOST_STAGES: usize = 4;
/// The most functions of a stage of which none is left out.
const MOST_FUNCTIONS: usize = 3;
const STAGES: &str = " → ";
const FUNCTIONS: &str = " > ";

/// The name of a type, with the ends of a context that is too long to be read: the outermost and the innermost function of each
/// stage, and the first two and last two stages. `--json` gives all of it, and the editor shows the same (`brief.ts`).
pub(super) fn brief(name: &str) -> String {
    if name.len() <= LONG {
        return name.into();
    }
    let stage = |stage| ends(stage, FUNCTIONS, MOST_FUNCTIONS, 1);
    let stages: Vec<String> = name.split(STAGES).map(stage).collect();
    ends(&stages.join(STAGES), STAGES, MOST_STAGES, 2)
}

/// The first and the last few parts, if there are more than `most`.
fn ends(text: &str, between: &str, most: usize, kept: usize) -> String {
    let parts: Vec<&str> = text.split(between).collect();
    if parts.len() <= most {
        return text.into();
    }
    let last = parts.len() - kept;
    [&parts[..kept], &["…"], &parts[last..]]
        .concat()
        .join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_be_read_stays() {
        let name = "bash: main > reader_loop > execute_command > zread → bash: exec env";
        assert_eq!(brief(name), name);
        let long = format!("GET /{}", "a".repeat(300));
        assert_eq!(brief(&long), long);
    }

    #[test]
    fn of_a_long_context_the_ends_are_left() {
        let path = "main > reader_loop > execute_command > command_substitute > zread";
        let two = format!("bash: {path} → bash: exec env > {path}");
        assert_eq!(
            brief(&two),
            "bash: main > … > zread → bash: exec env > … > zread"
        );
        let six = (1..=6).map(|n| format!("program{n}: {path}"));
        assert_eq!(
            brief(&six.collect::<Vec<_>>().join(STAGES)),
            "program1: main > … > zread → program2: main > … > zread → … → program5: main > … > zread → \
             program6: main > … > zread"
        );
    }
}
