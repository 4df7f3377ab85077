//! Names that Android's build tools shortened, and what they were in the source (`DeobfuscationMapping`).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::decode::fault::Fault;
use crate::decode::texts::MAX_NAME;
use crate::decode::wire::Message;

/// Android's users each have so many ids; the rest of an id is the application's.
const IDS_OF_A_USER: u64 = 100_000;
/// The most functions that may be inlined into each other.
const MOST_INLINED: usize = 64;

/// A package, by its place in the table.
pub(crate) type Package = usize;

/// What the trace says of packages.
#[derive(Default)]
pub(crate) struct Deobfuscated {
    numbers: HashMap<String, Package>,
    /// By shortened class and method.
    methods: Vec<HashMap<String, Vec<Method>>>,
    /// Names of packages by the id of their application.
    applications: HashMap<u64, String>,
}

/// A method of the source.
pub(crate) struct Method {
    /// With its class.
    pub(crate) name: String,
    /// The lines of the shortened method that come from it.
    first: Option<u64>,
    last: Option<u64>,
    /// Where it begins in the source; 0 if that is not known.
    pub(crate) line: u32,
}

impl Method {
    fn has(&self, line: u64) -> bool {
        self.first.is_none_or(|first| first <= line) && self.last.is_none_or(|last| line <= last)
    }
}

impl Deobfuscated {
    /// Adds what is known of a package. Of two packets about a method, the later one counts.
    pub(crate) fn add(&mut self, mut message: Message) -> Result<(), Fault> {
        let (mut package, mut classes) = (String::new(), Vec::new());
        while let Some((number, field)) = message.field()? {
            match (number, field.message()) {
                (1, Some(text)) => package = text.text(),
                (3, Some(class)) => classes.push(class),
                _ => {}
            }
        }
        let mut found = HashMap::new();
        for class in classes {
            add_class(class, &mut found)?;
        }
        let next = self.methods.len();
        let number = *self.numbers.entry(package).or_insert(next);
        if number == next {
            self.methods.push(HashMap::new());
        }
        self.methods[number].extend(found);
        Ok(())
    }

    /// Adds the list of packages.
    pub(crate) fn add_packages(&mut self, mut list: Message) -> Result<(), Fault> {
        while let Some((number, field)) = list.field()? {
            let Some(mut part) = field.message().filter(|_| number == 1) else {
                continue;
            };
            let (mut name, mut id) = (String::new(), 0);
            while let Some((number, field)) = part.field()? {
                match (number, field.message()) {
                    (1, Some(text)) => name = text.text(),
                    (2, None) => id = field.number(),
                    _ => {}
                }
            }
            self.applications.entry(id).or_insert(name);
        }
        Ok(())
    }

    /// Whether nothing is known of any package, as in most traces.
    pub(crate) fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// The package of a process with this user id and this name, if the trace has names of its source.
    pub(crate) fn of_process(&self, user: Option<u64>, name: Option<&str>) -> Option<Package> {
        let of_user = user.and_then(|id| self.applications.get(&(id % IDS_OF_A_USER)));
        let of_name = || name.map(|it| it.split(':').next().unwrap_or(it));
        let package = of_user.map(String::as_str).or_else(of_name)?;
        self.numbers.get(package).copied()
    }

    /// The package of code in this file. Installed applications are in `/data/app/PACKAGE-…/`, below a folder with a name
    /// that begins with `~` since Android 11.
    pub(crate) fn of_file(&self, path: &str) -> Option<Package> {
        const INSTALLED: &str = "/data/app/";
        let after = &path[path.find(INSTALLED)? + INSTALLED.len()..];
        let mut folders = after.split('/');
        let folder = folders.find(|it| !it.starts_with('~'))?;
        let (package, _) = folder.split_once('-')?;
        self.numbers.get(package).copied()
    }

    /// What a shortened name stands for, at this line of the shortened code (0 if that is not known): the innermost of inlined
    /// methods first. If only the line could tell which of several methods it is, all of them are one name.
    pub(crate) fn methods(
        &self,
        package: Package,
        name: &str,
        line: u64,
    ) -> Vec<(Cow<'_, str>, u32)> {
        let Some(all) = self.methods[package].get(name) else {
            return Vec::new();
        };
        let inlined = all.iter().filter(|it| line > 0 && it.has(line));
        let inlined: Vec<_> = inlined
            .map(|it| (Cow::Borrowed(&*it.name), it.line))
            .take(MOST_INLINED)
            .collect();
        if !inlined.is_empty() {
            return inlined;
        }
        let names: BTreeSet<&str> = all.iter().map(|it| &*it.name).collect();
        let mut text = Cow::Borrowed("");
        for name in names {
            if text.is_empty() {
                text = Cow::Borrowed(name);
            } else if text.len() + name.len() < MAX_NAME {
                text.to_mut().push_str(" | ");
                text.to_mut().push_str(name);
            }
        }
        vec![(text, 0)]
    }
}

fn add_class(mut message: Message, into: &mut HashMap<String, Vec<Method>>) -> Result<(), Fault> {
    let (mut short, mut class, mut methods) = (String::new(), String::new(), Vec::new());
    while let Some((number, field)) = message.field()? {
        match (number, field.message()) {
            (1, Some(text)) => short = text.text(),
            (2, Some(text)) => class = text.text(),
            (4, Some(method)) => methods.push(method),
            _ => {}
        }
    }
    for mut message in methods {
        let (mut short_name, mut name) = (String::new(), String::new());
        let (mut first, mut last, mut line) = (None, None, 0);
        while let Some((number, field)) = message.field()? {
            match (number, field.message()) {
                (1, Some(text)) => short_name = text.text(),
                (2, Some(text)) => name = text.text(),
                (3, None) => first = Some(field.number()),
                (4, None) => last = Some(field.number()),
                (5, None) => line = u32::try_from(field.number()).unwrap_or(0),
                _ => {}
            }
        }
        if !name.contains('.') {
            name = format!("{class}.{name}");
        }
        let methods = into.entry(format!("{short}.{short_name}")).or_default();
        methods.push(Method {
            name,
            first,
            last,
            line,
        });
    }
    Ok(())
}
