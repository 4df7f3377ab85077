//! Routes: the part of a URL that tells the kind of request.

/// The most segments of a path that are kept.
const MOST_SEGMENTS: usize = 12;
/// The most characters of a segment that are kept.
const LONGEST_SEGMENT: usize = 64;
/// Anything longer that has a digit is a token.
const LONGEST_WORD: usize = 32;

/// The path without the query, and with `{id}` in place of what differs between requests: numbers, dates, UUIDs,
/// hexadecimal keys.
pub(super) fn route(target: &str) -> String {
    let target = path_of(target);
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let mut segments = path.split('/').map(segment);
    let mut route = segments
        .by_ref()
        .take(MOST_SEGMENTS + 1)
        .collect::<Vec<_>>()
        .join("/");
    if segments.next().is_some() {
        route.push_str("/…");
    }
    route
}

/// The path in a request to a proxy: `http://host/path`.
fn path_of(target: &str) -> &str {
    match target.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|it| it.is_ascii_alphabetic()) => {
            rest.find('/').map_or("/", |path| &rest[path..])
        }
        _ => target,
    }
}

fn segment(text: &str) -> String {
    // `;jsessionid=…`
    let text = text.split(';').next().unwrap_or(text);
    if is_id(text) {
        return "{id}".into();
    }
    if let Some((stem, extension)) = text.rsplit_once('.')
        && is_id(stem)
        && !extension.is_empty()
        && extension.bytes().all(|it| it.is_ascii_alphanumeric())
    {
        return format!("{{id}}.{extension}");
    }
    match text.char_indices().nth(LONGEST_SEGMENT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

fn is_id(text: &str) -> bool {
    let has_digit = text.bytes().any(|it| it.is_ascii_digit());
    let numbers = || {
        text.bytes()
            .all(|it| it.is_ascii_digit() || b"-_.:,".contains(&it))
    };
    let key = || text.len() >= 8 && text.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    has_digit && (numbers() || key() || text.len() > LONGEST_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_no_ids_and_no_query() {
        for (target, expect) in [
            ("/buy", "/buy"),
            ("/", "/"),
            ("*", "*"),
            ("/item/4711/", "/item/{id}/"),
            ("/item/4711?x=1#y", "/item/{id}"),
            ("/u/550e8400-e29b-41d4-a716-446655440000", "/u/{id}"),
            ("/blob/deadbeef42", "/blob/{id}"),
            ("/feedback/decade", "/feedback/decade"),
            ("/day/2026-11-25", "/day/{id}"),
            ("/img/17.gif", "/img/{id}.gif"),
            ("/v2/users", "/v2/users"),
            ("/tpcw/TPCW_home;jsessionid=1A2B?C_ID=7", "/tpcw/TPCW_home"),
            ("http://shop:80/cart/3", "/cart/{id}"),
            ("http://shop", "/"),
            ("/redirect?to=http://a/b", "/redirect"),
            ("/t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "/t/{id}"),
        ] {
            assert_eq!(route(target), expect, "{target}");
        }
    }

    #[test]
    fn a_route_is_never_long() {
        assert_eq!(route(&"/a".repeat(13)), format!("{}/…", "/a".repeat(12)));
        assert_eq!(route(&"/a".repeat(12)), "/a".repeat(12));
        let long = format!("/{}", "ä".repeat(100));
        assert_eq!(route(&long), format!("/{}…", "ä".repeat(64)));
    }
}
