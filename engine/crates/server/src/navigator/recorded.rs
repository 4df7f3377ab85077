//! Where a profile itself says that its functions are.

use std::collections::HashMap;
use std::path::Path;

use fulcrum_profiles::names::placed;
use fulcrum_source::has_definitions;

/// Where the profile says that its functions are: file and 1-based line, by name.
pub(crate) type Recorded = HashMap<String, Vec<Place>>;

/// A place as the profile has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub file: String,
    pub line: Option<u32>,
    /// The line is that of the declaration. Else it is one of the function's, which the profile has in the name itself:
    /// `serve (app/server.py:380)`.
    pub declared: bool,
}

impl Place {
    /// The place at the end of a name; of one whose line a rule took away, the file.
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
pub fn recorded(open: &fulcrum_profiles::OpenSearch) -> Recorded {
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
