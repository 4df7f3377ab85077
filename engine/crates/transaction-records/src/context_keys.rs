//! Attribute names that a process publishes (OTEP 4719 and 4947), and the attributes of its threads' spans.
//!
//! The messages are protobuf, read by hand: `prost` decodes whole messages from a schema and rejects damaged ones. Here one
//! attribute is needed, in bytes that another process may have been writing.

/// The process attribute that holds the names.
const NAMES: &[u8] = b"threadlocal.attribute_key_map";
/// The nesting depth of messages that are searched.
const DEPTH: u32 = 2;

/// Attribute names by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextKeys(Vec<String>);

/// Names of the route attribute in different SDKs.
const ROUTE: [&str; 2] = ["http.route", "http_route"];
const METHOD: [&str; 3] = ["http.request.method", "http.method", "http_method"];
const RPC_SERVICE: [&str; 2] = ["rpc.service", "rpc_service"];
const RPC_METHOD: [&str; 2] = ["rpc.method", "rpc_method"];
const SPAN: [&str; 2] = ["span.name", "span_name"];

impl ContextKeys {
    /// Reads the names in a `ProcessContext` message. There are none if the message has none or is damaged.
    pub(crate) fn read(message: &[u8]) -> Self {
        let names = value_of_names(message, DEPTH);
        let list = names.and_then(|value| field(value, 5)).unwrap_or_default();
        let texts = fields(list).filter(|(number, _)| *number == 1);
        let texts = texts.map(|(_, value)| field(value, 1).unwrap_or_default());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // There cannot be more, because attribute numbers have one byte.
        ContextKeys(texts.take(256).map(text).collect())
    }

    /// The kind of request that a span with these attributes executes, if they tell.
    pub(crate) fn request(&self, attributes: &[u8]) -> Option<String> {
        let value = |names: &[&str]| {
            let row = names
                .iter()
                .find_map(|name| self.0.iter().position(|it| it == name))?;
            last(attributes, row)
        };
        if let Some(route) = value(&ROUTE) {
            let method = value(&METHOD);
            return Some(method.map_or(route.clone(), |method| format!("{method} {route}")));
        }
        if let Some(method) = value(&RPC_METHOD) {
            let service = value(&RPC_SERVICE);
            return Some(service.map_or(method.clone(), |service| format!("{service}/{method}")));
        }
        value(&SPAN)
    }
}

/// The last value of the attribute with this number, which is the one that counts.
fn last(mut attributes: &[u8], row: usize) -> Option<String> {
    let mut found = None;
    while let [key, length, rest @ ..] = attributes {
        let Some((value, more)) = rest.split_at_checked(usize::from(*length)) else {
            break;
        };
        if usize::from(*key) == row {
            found = Some(value);
        }
        attributes = more;
    }
    let text = String::from_utf8_lossy(found?).into_owned();
    (!text.is_empty() && !text.contains(char::is_control)).then_some(text)
}

/// The value of the attribute that holds the names, in the message itself or in a nested one.
fn value_of_names(message: &[u8], depth: u32) -> Option<&[u8]> {
    if field(message, 1) == Some(NAMES) {
        return field(message, 2);
    }
    let depth = depth.checked_sub(1)?;
    fields(message).find_map(|(_, value)| value_of_names(value, depth))
}

fn field(message: &[u8], wanted: u64) -> Option<&[u8]> {
    let mut all = fields(message);
    all.find(|(number, _)| *number == wanted)
        .map(|(_, value)| value)
}

/// The length-delimited fields of a protobuf message, up to any damage.
fn fields(message: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let tag = number(&mut rest)?;
            match tag & 7 {
                0 => drop(number(&mut rest)?),
                1 => rest = rest.get(8..)?,
                2 => {
                    let length = usize::try_from(number(&mut rest)?).ok()?;
                    let (value, more) = rest.split_at_checked(length)?;
                    rest = more;
                    return Some((tag >> 3, value));
                }
                5 => rest = rest.get(4..)?,
                _ => return None,
            }
        }
    })
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for at in 0..10 {
        let byte = *rest.get(at)?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            *rest = &rest[at + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message as an SDK writes it: a resource, followed by the names.
    fn message(names: &[&str]) -> Vec<u8> {
        let bytes =
            |number: u8, inner: &[u8]| [&[number << 3 | 2, inner.len() as u8], inner].concat();
        let text = |it: &&str| bytes(1, &bytes(1, it.as_bytes()));
        let list: Vec<u8> = names.iter().flat_map(text).collect();
        let value = bytes(2, &bytes(5, &list));
        let names = bytes(2, &[bytes(1, NAMES), value].concat());
        let service = [bytes(1, b"service.name"), bytes(2, &bytes(1, b"shop"))].concat();
        [bytes(1, &bytes(1, &service)), names].concat()
    }

    const ATTRIBUTES: &[u8] = b"\x01\x04/buy\x00\x03PUT\x00\x03GET\x02";

    #[test]
    fn attributes_tell_the_request_by_their_names() {
        for (names, expect) in [
            (&["http.request.method", "http.route"][..], Some("GET /buy")),
            (&["user", "http_route"], Some("/buy")),
            (&["rpc.method", "rpc.service"], Some("/buy/GET")),
            (&["span.name"], Some("GET")),
            (&["user", "x"], None),
            (&[], None),
        ] {
            let keys = ContextKeys::read(&message(names));
            assert_eq!(keys.request(ATTRIBUTES).as_deref(), expect, "{names:?}");
        }
    }

    #[test]
    fn damaged_messages_have_the_names_that_are_whole_or_none() {
        let names = ["http.request.method", "http.route"];
        let whole = message(&names);
        for end in 0..whole.len() {
            let keys = ContextKeys::read(&whole[..end]);
            assert!(keys.0.len() <= 2, "{end}");
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let keys = ContextKeys::read(&damaged);
                keys.request(ATTRIBUTES);
            }
        }
        let keys = ContextKeys::read(&whole);
        for end in 0..ATTRIBUTES.len() {
            keys.request(&ATTRIBUTES[..end]);
        }
        assert_eq!(keys.request(b"\x01\xff/"), None);
    }
}
