//! Where a profile itself says that its functions are.

use std::collections::HashMap;

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
    /// The place at the end of a name.
    fn of_name(name: &str) -> Option<Place> {
        let (_, place) = name.strip_suffix(')')?.rsplit_once(" (")?;
        let (file, line) = place.rsplit_once(':')?;
        Some(Place {
            file: Some(file).filter(|it| !it.is_empty())?.to_owned(),
            line: Some(line.parse().ok()?),
            declared: false,
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
pub fn recorded(open: &fulcrum_profiles::Session) -> Recorded {
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
