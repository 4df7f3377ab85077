//! What encloses an entry: namespaces, classes and functions. For functions that carry no linkage name of their own.

use gimli::{AttributeValue, UnitOffset};

/// A namespace, class or function, with the offsets of the entries inside it.
struct Container {
    start: usize,
    end: usize,
    /// `None`: a closure's class, which gcc leaves without a name.
    name: Option<String>,
    file: Option<u64>,
    line: Option<u64>,
    class: bool,
}

/// The containers of one unit, outer ones before those inside them.
pub(crate) struct Containers(Vec<Container>);

/// Where an entry stands.
#[derive(Default)]
pub(crate) struct Place {
    /// `shop::Queue`; empty at the top.
    pub(crate) prefix: String,
    /// File index and line of the nameless class around the entry, which then is a closure's body.
    pub(crate) closure: Option<(u64, u64)>,
}

impl Place {
    /// The name of a function that stands here: `shop::Queue::push`. The body of a closure, which has no line of its own, is
    /// named by what the closure stands in.
    pub(crate) fn qualified(&self, name: &str, has_line: bool) -> String {
        match (&self.closure, &*self.prefix) {
            (Some(_), prefix) if !has_line => format!("{prefix}::{{lambda}}"),
            (_, "") => name.to_owned(),
            (_, prefix) => format!("{prefix}::{name}"),
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
            let class = match abbreviation.tag() {
                gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram => false,
                gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type => true,
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let mut container = Container {
                start: offset,
                end: usize::MAX,
                name: None,
                file: None,
                line: None,
                class,
            };
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification)?;
                match attribute.name() {
                    gimli::DW_AT_name => {
                        let name = dwarf.attr_string(unit, attribute.value())?;
                        container.name = Some(name.to_string_lossy()?.into_owned());
                    }
                    gimli::DW_AT_decl_file => {
                        container.file = match attribute.value() {
                            AttributeValue::FileIndex(index) => Some(index),
                            value => value.udata_value(),
                        }
                    }
                    gimli::DW_AT_decl_line => container.line = attribute.udata_value(),
                    _ => {}
                }
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

    /// Where the entry at this offset stands.
    pub(crate) fn place(&self, entry: UnitOffset<usize>) -> Place {
        let around = |it: &&Container| it.start < entry.0 && entry.0 < it.end;
        let before = self.0.partition_point(|it| it.start < entry.0);
        let mut parts = Vec::new();
        let mut closure = None;
        for container in self.0[..before].iter().filter(around) {
            closure = match (&container.name, container.file, container.line) {
                (None, Some(file), Some(line)) if container.class => Some((file, line)),
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
