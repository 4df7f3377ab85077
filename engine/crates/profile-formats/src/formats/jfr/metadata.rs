//! The classes of a chunk, which define the layout of its constants and events.

use std::collections::HashMap;

use super::values::{self, Text, number};
use crate::decode::cursor::Cursor;
use crate::decode::fault::{Fault, dangling, quote};

/// How deep elements may be nested: root, metadata, class, field, annotation.
const ELEMENTS: usize = 8;
/// How deep values may be nested.
const DEPTH: usize = 32;

/// The row of a class in its chunk's table.
pub(crate) type Row = usize;

/// All classes of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    rows: HashMap<u64, Row>,
    classes: Vec<Class>,
}

/// The layout of a class's values.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    shape: Shape,
    /// Values take no bytes.
    empty: bool,
}

/// A field of a class.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) class: Row,
    /// The value is the number of a constant.
    pub(crate) constant: bool,
    pub(crate) array: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Bytes(usize),
    Number,
    Text,
    Fields,
}

impl Shape {
    fn of(name: &str) -> Shape {
        match name {
            "boolean" | "byte" => Shape::Bytes(1),
            "char" | "short" | "int" | "long" => Shape::Number,
            "float" => Shape::Bytes(4),
            "double" => Shape::Bytes(8),
            "java.lang.String" => Shape::Text,
            _ => Shape::Fields,
        }
    }
}

/// A node of the metadata.
#[derive(Default)]
struct Element {
    name: u64,
    /// Keys and values, as rows of the string table.
    attributes: Vec<(u64, u64)>,
    children: Vec<Element>,
}

impl Classes {
    /// Reads the body of a metadata event.
    pub(crate) fn read(mut body: Cursor) -> Result<Self, Fault> {
        let at = body.at();
        // Start, duration, and the id of this description.
        for _ in 0..3 {
            number(&mut body)?;
        }
        let count = values::count(&mut body, "strings")?;
        let mut strings = Vec::new();
        for _ in 0..count {
            strings.push(match values::text(&mut body)? {
                Text::Is(text) => text.into_owned(),
                Text::Null | Text::Constant(_) => String::new(),
            });
        }
        let root = element(&mut body, 0)?;
        let classes = Reader { strings: &strings }.classes(&root);
        classes.map_err(|fault| fault.at_byte(at))
    }

    /// The row of the class with this id.
    pub(crate) fn row(&self, id: u64) -> Option<Row> {
        self.rows.get(&id).copied()
    }

    /// The class in this row.
    pub(crate) fn class(&self, row: Row) -> &Class {
        &self.classes[row]
    }

    /// Skips a value.
    pub(crate) fn skip(&self, cursor: &mut Cursor, row: Row) -> Result<(), Fault> {
        self.skip_at(cursor, row, 0)
    }

    fn skip_at(&self, cursor: &mut Cursor, row: Row, depth: usize) -> Result<(), Fault> {
        let class = self.class(row);
        match class.shape {
            _ if class.empty => Ok(()),
            Shape::Bytes(size) => cursor.take(size).map(|_| ()),
            Shape::Number => number(cursor).map(|_| ()),
            Shape::Text => values::text(cursor).map(|_| ()),
            Shape::Fields if depth == DEPTH => {
                let problem = format!("values are nested more than {DEPTH} deep");
                Err(Fault::byte(cursor.at(), problem))
            }
            Shape::Fields => class
                .fields
                .iter()
                .try_for_each(|field| self.skip_field_at(cursor, field, depth + 1)),
        }
    }

    /// Skips a field of a value.
    pub(crate) fn skip_field(&self, cursor: &mut Cursor, field: &Field) -> Result<(), Fault> {
        self.skip_field_at(cursor, field, 0)
    }

    fn skip_field_at(&self, cursor: &mut Cursor, field: &Field, depth: usize) -> Result<(), Fault> {
        // An array's elements take at least one byte each, unless they are empty.
        let is_empty = !field.constant && self.class(field.class).empty;
        let times = match field.array {
            true if is_empty => number(cursor).map(|_| 0)?,
            true => values::count(cursor, &field.name)?,
            false => 1,
        };
        for _ in 0..times {
            match field.constant {
                true => drop(number(cursor)?),
                false => self.skip_at(cursor, field.class, depth)?,
            }
        }
        Ok(())
    }

    /// Finds the classes whose values take no bytes, and removes fields of such classes. A value that contains itself is an
    /// error.
    fn measure(&mut self) -> Result<(), Fault> {
        // 0: unknown, 1: in progress, 2: known.
        let mut states = vec![0_u8; self.classes.len()];
        for start in 0..self.classes.len() {
            let mut path = vec![(start, 0)];
            while let Some((row, next)) = path.last_mut() {
                let row = *row;
                let class = &self.classes[row];
                if states[row] == 2 || class.shape != Shape::Fields {
                    states[row] = 2;
                    path.pop();
                    continue;
                }
                states[row] = 1;
                let inside = class.fields[*next..]
                    .iter()
                    .position(|field| !field.constant && !field.array);
                match inside {
                    Some(skipped) => {
                        let inner = class.fields[*next + skipped].class;
                        *next += skipped + 1;
                        if states[inner] == 1 {
                            let name = quote(&class.name);
                            return Err(Fault::whole(format!(
                                "a value of class {name} holds itself"
                            )));
                        }
                        path.push((inner, 0));
                    }
                    None => {
                        // Each field that stays takes at least one byte.
                        let mut fields = std::mem::take(&mut self.classes[row].fields);
                        fields.retain(|field| {
                            field.constant || field.array || !self.classes[field.class].empty
                        });
                        self.classes[row].empty = fields.is_empty();
                        self.classes[row].fields = fields;
                        states[row] = 2;
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The name since JDK 11 of a class of JDK 9 and 10.
fn as_today(name: &str) -> String {
    let event = name.strip_prefix("com.oracle.jdk.");
    let constant = name.strip_prefix("com.oracle.jfr.types.");
    match (event, constant) {
        (Some(event), _) => format!("jdk.{event}"),
        (_, Some(constant)) => format!("jdk.types.{constant}"),
        _ => name.to_owned(),
    }
}

fn element(body: &mut Cursor, depth: usize) -> Result<Element, Fault> {
    if depth == ELEMENTS {
        let problem = format!("elements of the metadata are nested more than {ELEMENTS} deep");
        return Err(Fault::byte(body.at(), problem));
    }
    let mut element = Element {
        name: number(body)?,
        ..Element::default()
    };
    for _ in 0..values::count(body, "attributes")? {
        element.attributes.push((number(body)?, number(body)?));
    }
    for _ in 0..values::count(body, "elements")? {
        element.children.push(self::element(body, depth + 1)?);
    }
    Ok(element)
}

/// Makes classes from elements.
struct Reader<'s> {
    strings: &'s [String],
}

impl<'s> Reader<'s> {
    fn string(&self, index: u64) -> Result<&'s str, Fault> {
        let string = usize::try_from(index)
            .ok()
            .and_then(|index| self.strings.get(index));
        let string = string.ok_or_else(|| dangling("the metadata", index, "string"))?;
        Ok(string)
    }

    fn attribute(&self, element: &Element, wanted: &str) -> Result<Option<&'s str>, Fault> {
        for &(key, value) in &element.attributes {
            if self.string(key)? == wanted {
                return self.string(value).map(Some);
            }
        }
        Ok(None)
    }

    /// The id of the class that an attribute names.
    fn id(&self, element: &Element, wanted: &str) -> Result<u64, Fault> {
        let text = self.attribute(element, wanted)?.unwrap_or("");
        text.parse().map_err(|_| {
            let text = quote(text);
            Fault::whole(format!(
                "expected {wanted} to be the number of a class, got {text}"
            ))
        })
    }

    fn children<'e>(&self, element: &'e Element, wanted: &str) -> Result<Vec<&'e Element>, Fault> {
        let mut found = Vec::new();
        for child in &element.children {
            if self.string(child.name)? == wanted {
                found.push(child);
            }
        }
        Ok(found)
    }

    fn classes(&self, root: &Element) -> Result<Classes, Fault> {
        let mut elements = Vec::new();
        for metadata in self.children(root, "metadata")? {
            elements.append(&mut self.children(metadata, "class")?);
        }
        let mut classes = Classes::default();
        for (row, element) in elements.iter().enumerate() {
            let id = self.id(element, "id")?;
            if classes.rows.insert(id, row).is_some() {
                return Err(Fault::whole(format!("class {id} occurs twice")));
            }
        }
        for element in elements {
            let name = as_today(self.attribute(element, "name")?.unwrap_or(""));
            let mut fields = Vec::new();
            for field in self.children(element, "field")? {
                let id = self.id(field, "class")?;
                let class = classes.row(id);
                let is = |key: &str, value: &str| -> Result<bool, Fault> {
                    Ok(self.attribute(field, key)? == Some(value))
                };
                fields.push(Field {
                    name: self.attribute(field, "name")?.unwrap_or("").to_owned(),
                    class: class.ok_or_else(|| dangling("a field", id, "class"))?,
                    constant: is("constantPool", "true")?,
                    array: is("dimension", "1")?,
                });
            }
            classes.classes.push(Class {
                shape: Shape::of(&name),
                name,
                fields,
                empty: false,
            });
        }
        classes.measure()?;
        Ok(classes)
    }
}
