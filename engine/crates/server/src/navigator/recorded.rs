//! Where a profile itself says that its functions are.

use std::collections::HashMap;
use std::path::Path;

use fulcrum_events::Method;
use fulcrum_profiles::names::placed;
use fulcrum_source::has_definitions;

/// Where the profile says that its functions are: file and 1-based line, by name.
pub(crate) type Recorded = HashMap<String, Vec<Place>>;

/// A place as a profile or an event log has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub file: String,
    pub line: Option<u32>,
    /// Whether the line is that of the declaration. Otherwise it is one of the function's lines, which the profile has in the
    /// name itself: `serve (app/server.py:380)`.
    pub declared: bool,
}

impl Place {
    /// Where an event log says that a method is; `None` when it does not say.
    pub(crate) fn of_method(method: &Method) -> Option<Place> {
        Some(Place {
            file: method.source_path()?,
            line: u32::try_from(method.line).ok().filter(|line| *line > 0),
            declared: true,
        })
    }

    /// The place at the end of a name, or only the file where a rule for names has removed the line.
    fn of_name(name: &str) -> Option<Place> {
        if let Some(place) = placed(name) {
            return Some(Place {
                file: place.file.to_owned(),
                line: Some(place.line),
                declared: false,
            });
        }
        let file = match name.strip_suffix(')') {
            Some(name) => name.rsplit_once(" (")?.1,
            None => name.rsplit_once(" - ")?.1,
        };
        has_definitions(Path::new(file)).then(|| Place {
            file: file.to_owned(),
            line: None,
            declared: true,
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Where the profile says that its functions are, in the order of its frames.
pub(crate) fn recorded(open: &fulcrum_profiles::OpenSearch) -> Recorded {
    let mut all: Recorded = HashMap::new();
    for frame in open.frames() {
        let place = match &frame.file {
            Some(file) => Some(Place {
                file: file.clone(),
                line: frame.line,
                declared: true,
            }),
            None => Place::of_name(&frame.name),
        };
        if let Some(place) = place {
            let places = all.entry(frame.name.clone()).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_end_with_places() {
        for (name, file, line, declared) in [
            (
                "serve (app/server.py:380)",
                "app/server.py",
                Some(380),
                false,
            ),
            ("each - lib/shop.rb:7", "lib/shop.rb", Some(7), false),
            ("serve (app/server.py)", "app/server.py", None, true),
            ("each - lib/shop.py", "lib/shop.py", None, true),
        ] {
            let place = Place::of_name(name).expect(name);
            assert_eq!(
                (&*place.file, place.line, place.declared),
                (file, line, declared)
            );
        }
        for name in ["main", "f(int) (inlined)", "a - b", "operator- (x, y)"] {
            assert_eq!(Place::of_name(name), None, "{name}");
        }
    }
}
