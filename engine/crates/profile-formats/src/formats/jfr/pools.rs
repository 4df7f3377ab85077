//! The constants of a chunk that stacks and threads need.

use std::borrow::Cow;
use std::collections::HashMap;

use super::metadata::{Classes, Field, Row};
use super::values::{self, Text, byte, number};
use crate::decode::cursor::Cursor;
use crate::decode::fault::{Fault, dangling};
use crate::decode::texts::cut;

/// How many constants a text may refer through.
const HOPS: usize = 4;

/// Constants by number.
#[derive(Debug, Default)]
pub(crate) struct Pools<'a> {
    /// Texts by class and number.
    texts: HashMap<(Row, u64), Text<'a>>,
    /// The name of each class.
    types: HashMap<u64, Name<'a>>,
    /// The class and name of each method.
    methods: HashMap<u64, (u64, Name<'a>)>,
    pub(crate) threads: HashMap<u64, Thread<'a>>,
    /// The name of each thread state.
    states: HashMap<u64, Name<'a>>,
    pub(crate) traces: HashMap<u64, Trace>,
    /// The methods and lines of all stacks, innermost first in each.
    frames: Vec<(u64, u32)>,
    /// The class `java.lang.String`.
    string: Option<Row>,
}

/// A text, or the constant that contains it.
#[derive(Clone, Debug)]
pub(crate) enum Name<'a> {
    Text(Text<'a>),
    Constant(Row, u64),
}

/// A thread: name and number in Java and in the operating system.
#[derive(Debug)]
pub(crate) struct Thread<'a> {
    pub(crate) java: (Name<'a>, u64),
    pub(crate) os: (Name<'a>, u64),
}

/// A stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace {
    /// The range in [`Pools::frames`].
    from: usize,
    to: usize,
    /// The recorder left out the outermost frames.
    pub(crate) truncated: bool,
}

/// How to read some fields of a class.
pub(crate) struct Plan<'c, const N: usize> {
    classes: &'c Classes,
    /// Each field, and which of the wanted fields it is.
    fields: Vec<(&'c Field, Option<usize>)>,
}

impl<'c, const N: usize> Plan<'c, N> {
    /// A plan for the values of a class.
    pub(crate) fn new(classes: &'c Classes, class: Row, wanted: [&str; N]) -> Self {
        let fields = classes.class(class).fields.iter();
        let place = |field: &Field| wanted.iter().position(|&name| name == field.name);
        Plan {
            classes,
            fields: fields.map(|field| (field, place(field))).collect(),
        }
    }

    /// Skips a value and returns its wanted fields.
    pub(crate) fn read<'a>(
        &self,
        cursor: &mut Cursor<'a>,
    ) -> Result<[Option<Part<'a, 'c>>; N], Fault> {
        let mut found = [const { None }; N];
        for &(field, place) in &self.fields {
            if let Some(place) = place {
                found[place] = Some(Part {
                    cursor: *cursor,
                    classes: self.classes,
                    field,
                });
            }
            self.classes.skip_field(cursor, field)?;
        }
        Ok(found)
    }
}

/// A field of a value.
pub(crate) struct Part<'a, 'c> {
    cursor: Cursor<'a>,
    classes: &'c Classes,
    field: &'c Field,
}

impl<'a> Part<'a, '_> {
    /// A number, or the number of a constant; 0 for anything else.
    pub(crate) fn number(&self) -> Result<u64, Fault> {
        let mut cursor = self.cursor;
        let class = &*self.classes.class(self.field.class).name;
        match class {
            _ if self.field.array => Ok(0),
            "boolean" | "byte" if !self.field.constant => byte(&mut cursor).map(u64::from),
            "float" | "double" | "java.lang.String" if !self.field.constant => Ok(0),
            _ => number(&mut cursor),
        }
    }

    /// A text, or the constant that contains it.
    fn name(&self) -> Result<Name<'a>, Fault> {
        let mut cursor = self.cursor;
        if self.field.array {
            return Ok(Name::Text(Text::Null));
        }
        if self.field.constant {
            return Ok(Name::Constant(self.field.class, number(&mut cursor)?));
        }
        match &*self.classes.class(self.field.class).name {
            "java.lang.String" => values::text(&mut cursor).map(Name::Text),
            _ => Ok(Name::Text(Text::Null)),
        }
    }
}

fn number_of(part: Option<&Part>) -> Result<u64, Fault> {
    part.map_or(Ok(0), Part::number)
}

/// Reads constants that have a name, into a table by number.
fn names<'a>(
    classes: &Classes,
    row: Row,
    count: usize,
    body: &mut Cursor<'a>,
    into: &mut HashMap<u64, Name<'a>>,
) -> Result<(), Fault> {
    let plan = Plan::new(classes, row, ["name"]);
    for _ in 0..count {
        let key = number(body)?;
        let [name] = plan.read(body)?;
        into.insert(key, name_of(name.as_ref())?);
    }
    Ok(())
}

fn name_of<'a>(part: Option<&Part<'a, '_>>) -> Result<Name<'a>, Fault> {
    part.map_or(Ok(Name::Text(Text::Null)), Part::name)
}

impl<'a> Pools<'a> {
    /// Adds the constants of a checkpoint.
    pub(crate) fn checkpoint(
        &mut self,
        classes: &Classes,
        mut body: Cursor<'a>,
    ) -> Result<(), Fault> {
        // Start, duration, the offset of the previous checkpoint, and the type.
        for _ in 0..3 {
            number(&mut body)?;
        }
        byte(&mut body)?;
        for _ in 0..values::count(&mut body, "pools of constants")? {
            let at = body.at();
            let id = number(&mut body)?;
            let row = classes.row(id);
            let row = row.ok_or_else(|| dangling("a pool", id, "class").at_byte(at))?;
            let count = values::count(&mut body, "constants")?;
            self.pool(classes, row, count, &mut body)?;
        }
        Ok(())
    }

    fn pool(
        &mut self,
        classes: &Classes,
        row: Row,
        count: usize,
        body: &mut Cursor<'a>,
    ) -> Result<(), Fault> {
        match &*classes.class(row).name {
            "java.lang.String" => {
                self.string = Some(row);
                for _ in 0..count {
                    let key = number(body)?;
                    self.texts.insert((row, key), values::text(body)?);
                }
            }
            "jdk.types.Symbol" => self.symbols(classes, row, count, body)?,
            "java.lang.Class" => names(classes, row, count, body, &mut self.types)?,
            "jdk.types.ThreadState" => names(classes, row, count, body, &mut self.states)?,
            "jdk.types.Method" => self.methods(classes, row, count, body)?,
            "java.lang.Thread" => self.threads(classes, row, count, body)?,
            "jdk.types.StackTrace" => self.traces(classes, row, count, body)?,
            _ => {
                for _ in 0..count {
                    number(body)?;
                    classes.skip(body, row)?;
                }
            }
        }
        Ok(())
    }

    fn symbols(
        &mut self,
        classes: &Classes,
        row: Row,
        count: usize,
        body: &mut Cursor<'a>,
    ) -> Result<(), Fault> {
        let plan = Plan::new(classes, row, ["string"]);
        for _ in 0..count {
            let key = number(body)?;
            let [text] = plan.read(body)?;
            if let Name::Text(text) = name_of(text.as_ref())? {
                self.texts.insert((row, key), text);
            }
        }
        Ok(())
    }

    fn methods(
        &mut self,
        classes: &Classes,
        row: Row,
        count: usize,
        body: &mut Cursor<'a>,
    ) -> Result<(), Fault> {
        let plan = Plan::new(classes, row, ["type", "name"]);
        for _ in 0..count {
            let key = number(body)?;
            let [class, name] = plan.read(body)?;
            let method = (number_of(class.as_ref())?, name_of(name.as_ref())?);
            self.methods.insert(key, method);
        }
        Ok(())
    }

    fn threads(
        &mut self,
        classes: &Classes,
        row: Row,
        count: usize,
        body: &mut Cursor<'a>,
    ) -> Result<(), Fault> {
        let wanted = ["javaName", "javaThreadId", "osName", "osThreadId"];
        let plan = Plan::new(classes, row, wanted);
        for _ in 0..count {
            let key = number(body)?;
            let [java, java_id, os, os_id] = plan.read(body)?;
            let thread = Thread {
                java: (name_of(java.as_ref())?, number_of(java_id.as_ref())?),
                os: (name_of(os.as_ref())?, number_of(os_id.as_ref())?),
            };
            self.threads.insert(key, thread);
        }
        Ok(())
    }

    fn traces(
        &mut self,
        classes: &Classes,
        row: Row,
        count: usize,
        body: &mut Cursor<'a>,
    ) -> Result<(), Fault> {
        let plan = Plan::new(classes, row, ["truncated", "frames"]);
        for _ in 0..count {
            let key = number(body)?;
            let [truncated, frames] = plan.read(body)?;
            let from = self.frames.len();
            if let Some(frames) = frames.filter(|part| part.field.array && !part.field.constant) {
                let plan = Plan::new(classes, frames.field.class, ["method", "lineNumber"]);
                let mut cursor = frames.cursor;
                for _ in 0..values::count(&mut cursor, "frames")? {
                    let [method, line] = plan.read(&mut cursor)?;
                    // Code without lines has line -1.
                    let line = u32::try_from(number_of(line.as_ref())?).unwrap_or(0);
                    self.frames.push((number_of(method.as_ref())?, line));
                }
            }
            let trace = Trace {
                from,
                to: self.frames.len(),
                truncated: number_of(truncated.as_ref())? != 0,
            };
            self.traces.insert(key, trace);
        }
        Ok(())
    }

    /// The methods and lines of a stack, innermost first.
    pub(crate) fn frames(&self, trace: Trace) -> &[(u64, u32)] {
        &self.frames[trace.from..trace.to]
    }

    /// A method as `package.Class.method`.
    pub(crate) fn method(&self, id: u64) -> Result<String, Fault> {
        let method = self.methods.get(&id);
        let (class, name) = method.ok_or_else(|| dangling("a stack", id, "method"))?;
        let name = self.text(name);
        let class = match self.types.get(class) {
            Some(class) => self.text(class),
            None if *class == 0 => "".into(),
            None => return Err(dangling("a method", class, "class")),
        };
        Ok(match (&*class, &*name) {
            ("", name) => cut(name).to_owned(),
            (class, name) => format!("{}.{}", cut(class).replace('/', "."), cut(name)),
        })
    }

    /// Whether a thread in this state waits, as far as the recording says. CPU time samples have no state.
    pub(crate) fn waits(&self, state: u64) -> bool {
        let name = self.states.get(&state).map(|name| self.text(name));
        let runs = ["", "STATE_RUNNABLE", "STATE_DEFAULT"];
        name.is_some_and(|name| !runs.contains(&&*name))
    }

    /// The text; empty when there is none.
    pub(crate) fn text(&self, name: &Name<'a>) -> Cow<'a, str> {
        let mut key = match name {
            Name::Text(Text::Is(text)) => return text.clone(),
            Name::Text(Text::Null) => return "".into(),
            Name::Text(Text::Constant(key)) => self.string.map(|row| (row, *key)),
            Name::Constant(row, key) => Some((*row, *key)),
        };
        for _ in 0..HOPS {
            match key.and_then(|key| self.texts.get(&key)) {
                Some(Text::Is(text)) => return text.clone(),
                Some(Text::Constant(next)) => key = self.string.map(|row| (row, *next)),
                Some(Text::Null) | None => break,
            }
        }
        "".into()
    }
}
