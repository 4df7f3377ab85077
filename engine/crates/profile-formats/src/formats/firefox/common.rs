//! What both formats share: units of CPU time, and locations of functions.

/// The unit of `threadCPUDelta`.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) unit: &'static str,
    /// The factor to `unit`.
    pub(crate) scale: f64,
}

impl Cpu {
    /// From the name in the file; microseconds when there is none.
    pub(crate) fn new(unit: Option<&str>) -> Self {
        let (unit, scale) = match unit {
            Some("ns") => ("ns", 1.0),
            Some("µs" | "us") | None => ("ns", 1e3),
            Some(_) => ("cycles", 1.0),
        };
        Cpu { unit, scale }
    }
}

/// Function, file and line of a location in the browser's format: `f (file.js:12:3)`. The line is the declaration's.
pub(crate) fn location(text: &str) -> (&str, &str, u32) {
    let parts = text
        .strip_suffix(')')
        .and_then(|text| text.split_once(" ("))
        .filter(|(_, place)| place.contains(':'));
    let Some((name, place)) = parts else {
        return (text, "", 0);
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (file, last) = place.rsplit_once(':').unwrap_or((place, ""));
    let (file, line) = match (file.rsplit_once(':'), number(last)) {
        (Some((file, line)), Some(_)) if number(line).is_some() => (file, number(line)),
        (_, Some(line)) => (file, Some(line)),
        _ => (place, None),
    };
    (name, file, line.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_taken_apart() {
        for (text, expect) in [
            ("(root)", ("(root)", "", 0)),
            ("Startup::XRE_Main", ("Startup::XRE_Main", "", 0)),
            ("f (http://a/b.js:12)", ("f", "http://a/b.js", 12)),
            ("f (http://a/b.js:12:3)", ("f", "http://a/b.js", 12)),
            ("f (http://a:80/b.js)", ("f", "http://a:80/b.js", 0)),
        ] {
            assert_eq!(location(text), expect);
        }
    }
}
