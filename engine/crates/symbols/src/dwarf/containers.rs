//! The namespaces, classes and functions around an entry. Qualifies the names of functions without a linkage name.

use gimli::{AttributeValue, UnitOffset};

/// A namespace, class or function, with the offsets of the entries inside it.
struct Container {
    start: usize,
    end: usize,
    /// `None` for a closure's class, to which GCC gives no name.
    name: Option<String>,
    file: Option<u64>,
    line: Option<u64>,
    tag: Tag,
}

/// What kind of entry a container is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    NamespaceOrFunction,
    Class,
}

impl Container {
    fn new(start: usize, tag: Tag) -> Container {
        Container {
            start,
            end: usize::MAX,
            name: None,
            file: None,
            line: None,
            tag,
        }
    }

    /// Keeps an attribute that says what the container is.
    fn take<R: gimli::Reader<Offset = usize>>(
        &mut self,
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
        attribute: &gimli::Attribute<R>,
    ) -> gimli::Result<()> {
        match attribute.name() {
            gimli::DW_AT_name => {
                let name = dwarf.attr_string(unit, attribute.value())?;
                self.name = Some(name.to_string_lossy()?.into_owned());
            }
            gimli::DW_AT_decl_file => {
                self.file = match attribute.value() {
                    AttributeValue::FileIndex(index) => Some(index),
                    value => value.udata_value(),
                }
            }
            gimli::DW_AT_decl_line => self.line = attribute.udata_value(),
            _ => {}
        }
        Ok(())
    }
}

/// The containers of one unit, outer ones before inner ones.
pub(crate) struct Containers(Vec<Container>);

/// The containers around an entry.
#[derive(Default)]
pub(crate) struct Place {
    /// The names of the containers, such as `shop::Queue`. Empty at the top level.
    pub(crate) prefix: String,
    /// The file index and line of the unnamed class around the entry, if the entry is the body of a closure.
    pub(crate) closure: Option<(u64, u64)>,
}

impl Place {
    /// The qualified name of a function in these containers, such as `shop::Queue::push`.
    pub(crate) fn qualified(&self, name: &str) -> String {
        match &*self.prefix {
            "" => name.to_owned(),
            prefix => format!("{prefix}::{name}"),
        }
    }

    /// The same for a function without a line of its own. If that is the body of a closure, it is named after the containers.
    pub(crate) fn qualified_without_line(&self, name: &str) -> String {
        match &self.closure {
            Some(_) => format!("{}::{{lambda}}", self.prefix),
            None => self.qualified(name),
        }
    }
}

impl Containers {
    /// Reads a unit's containers.
    pub(crate) fn read<R: gimli::Reader<Offset = usize>>(
        dwarf: &gimli::Dwarf<R>,
        unit: &gimli::Unit<R>,
    ) -> gimli::Result<Containers> {
        let mut all: Vec<Container> = Vec::new();
        let mut open: Vec<(isize, usize)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset().0, entries.next_depth());
            while let Some(&(inside, index)) = open.last()
                && inside >= depth
            {
                all[index].end = offset;
                open.pop();
            }
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let tag = match abbreviation.tag() {
                gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram => Tag::NamespaceOrFunction,
                gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type => Tag::Class,
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let mut container = Container::new(offset, tag);
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification)?;
                container.take(dwarf, unit, &attribute)?;
            }
            if abbreviation.tag() == gimli::DW_TAG_namespace && container.name.is_none() {
                container.name = Some("(anonymous namespace)".into());
            }
            if abbreviation.has_children() {
                open.push((depth, all.len()));
                all.push(container);
            }
        }
        Ok(Containers(all))
    }

    /// The containers around the entry at this offset.
    pub(crate) fn place(&self, entry: UnitOffset<usize>) -> Place {
        let around = |it: &&Container| it.start < entry.0 && entry.0 < it.end;
        let before = self.0.partition_point(|it| it.start < entry.0);
        let mut parts = Vec::new();
        let mut closure = None;
        for container in self.0[..before].iter().filter(around) {
            closure = match (&container.name, container.file, container.line) {
                (None, Some(file), Some(line)) if container.tag == Tag::Class => Some((file, line)),
                _ => None,
            };
            parts.extend(container.name.as_deref());
        }
        Place {
            prefix: parts.join("::"),
            closure,
        }
    }
}
