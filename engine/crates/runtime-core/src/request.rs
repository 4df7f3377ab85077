//! Whether a request is of a type, from its first bytes: the request line of HTTP/1, and the route by which
//! `fulcrum-transactions` names types.
//!
//! By hand: `httparse` parses whole heads, of which only the request line may have arrived, and only method and path matter here.

/// The placeholder in a name for a part that differs from request to request.
const ID: &[u8] = b"{id}";
/// The end of a name or part that was cut.
const CUT: &[u8] = "…".as_bytes();
/// A longer part that has a digit is an id.
const LONGEST_WORD: usize = 32;

/// Whether a type's name is that of HTTP requests: `GET /item/{id}`.
pub fn is_name(name: &[u8]) -> bool {
    let mut words = name.splitn(2, |byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let route = words.next().unwrap_or_default();
    let is_method = !method.is_empty() && method.iter().all(u8::is_ascii_uppercase);
    is_method && route.starts_with(b"/")
}

/// Whether a request that begins with these bytes is of the type with this name.
pub fn matches(name: &[u8], bytes: &[u8]) -> bool {
    let Some(space) = name.iter().position(|byte| *byte == b' ') else {
        return false;
    };
    let (method, route) = name.split_at(space + 1);
    let Some(rest) = bytes.strip_prefix(method) else {
        return false;
    };
    let target = until(rest, |byte| byte <= b' ');
    let path = until(path_of(target), |byte| byte == b'?' || byte == b'#');
    let (Some(route), Some(path)) = (route.strip_prefix(b"/"), path.strip_prefix(b"/")) else {
        return false;
    };
    let mut wanted = route.split(|byte| *byte == b'/');
    let mut segments = path.split(|byte| *byte == b'/');
    loop {
        match (wanted.next(), segments.next()) {
            (None, None) => return true,
            (Some(CUT), Some(_)) => return true,
            (Some(wanted), Some(segment)) if is_named(segment, wanted) => {}
            _ => return false,
        }
    }
}

/// The path of a request target, which for proxies is `http://host/path`.
fn path_of(target: &[u8]) -> &[u8] {
    let colon = target.iter().position(|byte| *byte == b':').unwrap_or(0);
    let (scheme, rest) = target.split_at(colon);
    match rest.strip_prefix(b"://") {
        Some(rest) if !scheme.is_empty() && scheme.iter().all(u8::is_ascii_alphabetic) => {
            match rest.iter().position(|byte| *byte == b'/') {
                Some(slash) => &rest[slash..],
                None => b"/",
            }
        }
        _ => target,
    }
}

/// Whether a part of a path matches a part of a name.
fn is_named(segment: &[u8], name: &[u8]) -> bool {
    // `;jsessionid=…`
    let segment = until(segment, |byte| byte == b';');
    if let Some(extension) = name.strip_prefix(ID) {
        return segment.strip_suffix(extension).is_some_and(is_id);
    }
    match name.strip_suffix(CUT) {
        Some(beginning) => segment.starts_with(beginning),
        None => segment == name,
    }
}

/// Whether a part of a path differs from request to request: numbers, dates, UUIDs, hexadecimal keys, tokens.
fn is_id(text: &[u8]) -> bool {
    let has_digit = text.iter().any(u8::is_ascii_digit);
    let numbers = || {
        text.iter()
            .all(|byte| byte.is_ascii_digit() || b"-_.:,".contains(byte))
    };
    let key = || {
        text.len() >= 8
            && text
                .iter()
                .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
    };
    has_digit && (numbers() || key() || text.len() > LONGEST_WORD)
}

/// The bytes before the first for which `end` holds, or all.
fn until(bytes: &[u8], end: impl Fn(u8) -> bool) -> &[u8] {
    let at = bytes.iter().position(|byte| end(*byte));
    &bytes[..at.unwrap_or(bytes.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    use fulcrum_transactions::recognise::Recognition;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    /// Each is of the type that it is named by when transactions are told apart, and of no other.
    #[test]
    fn a_request_is_of_the_type_that_names_it() {
        let long = format!("/{}", "a".repeat(100));
        let deep = "/a".repeat(20);
        let targets = [
            "/buy",
            "/",
            "/item/4711/",
            "/item/4711?x=1",
            "/items/4711",
            "/item/list",
            "/u/550e8400-e29b-41d4-a716-446655440000/cart",
            "/blob/deadbeef42",
            "/img/17.gif",
            "/img/logo.gif",
            "/tpcw/TPCW_home;jsessionid=1A2B?C_ID=7",
            "http://shop:80/cart/3",
            "/t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            &long,
            &deep,
        ];
        let methods = ["GET", "POST", "HEAD"];
        let requests: Vec<String> = targets
            .iter()
            .flat_map(|target| {
                methods.map(|it| format!("{it} {target} HTTP/1.1\r\nHost: shop\r\n\r\n"))
            })
            .collect();
        let name = |request: &String| {
            let name = Recognition::On.name(request.as_bytes());
            name.expect("a request line")
        };
        for request in &requests {
            assert!(is_name(name(request).as_bytes()), "{request}");
            for other in &requests {
                let same = name(request) == name(other);
                let of = matches(name(other).as_bytes(), request.as_bytes());
                assert_eq!(of, same, "{request} {}", name(other));
            }
        }
    }

    #[test]
    fn what_is_no_request_is_of_no_type() {
        for bytes in [
            &b""[..],
            b"G",
            b"GET",
            b"GET ",
            b"GET /buyer HTTP/1.1\r\n",
            b"get /buy HTTP/1.1\r\n",
            b"SELECT 1",
            b"\x16\x03\x01",
        ] {
            assert!(!matches(b"GET /buy", bytes), "{bytes:?}");
        }
        for name in [
            "redis GET",
            "SELECT item",
            "",
            "GET",
            "main > worker",
            "get /x",
        ] {
            assert!(!is_name(name.as_bytes()), "{name}");
            assert!(!matches(name.as_bytes(), b"GET /x HTTP/1.1\r\n"), "{name}");
        }
    }
}
