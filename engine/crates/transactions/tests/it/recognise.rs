//! Requests are named by the first bytes of their messages.

use fulcrum_stats::Random;
use fulcrum_transactions::recognise::{EXAMINED, Recognition, Traced};

fn check(bytes: &[u8], expect: Option<&str>) {
    let found = Recognition::On.name(bytes);
    assert_eq!(found.as_deref(), expect, "{}", bytes.escape_ascii());
    assert_eq!(Recognition::Off.name(bytes), None);
}

/// A message of PostgreSQL: its kind, its length and its body.
fn postgres(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// A command of MySQL in its packet.
fn mysql(command: u8, text: &str) -> Vec<u8> {
    let length = (text.len() as u32 + 1).to_le_bytes();
    [&length[..3], &[0, command], text.as_bytes()].concat()
}

#[test]
fn http_by_method_and_route() {
    check(b"GET /buy HTTP/1.1\r\nHost: shop\r\n\r\n", Some("GET /buy"));
    check(
        b"POST /item/12/reviews?sort=new HTTP/1.0\r\n",
        Some("POST /item/{id}/reviews"),
    );
    check(
        b"GET http://shop/cart/5 HTTP/1.1\r\n",
        Some("GET /cart/{id}"),
    );
    check(b"OPTIONS * HTTP/1.1\r\n", Some("OPTIONS *"));
    check(b"CONNECT shop:443 HTTP/1.1\r\n", Some("CONNECT"));
    check(b"GET /buy HTTP/1.1", None);
    check(b"GET /bu", None);
    check(b"GET /buy SMTP\r\n", None);
    check(b"FETCH /buy HTTP/1.1\r\n", None);
    check(b"GET /b\x01uy HTTP/1.1\r\n", None);
    check(b"HTTP/1.1 200 OK\r\n", None);
    let long = format!("GET /search?q={} HTTP/1.1\r\n", "x".repeat(3 * EXAMINED));
    check(long.as_bytes(), Some("GET /search"));
}

#[test]
fn databases_by_verb_and_table() {
    check(
        &postgres(b'Q', b"SELECT * FROM item\0"),
        Some("SELECT item"),
    );
    check(
        &postgres(b'P', b"stmt1\0INSERT INTO cart VALUES ($1)\0\0\0"),
        Some("INSERT cart"),
    );
    check(&postgres(b'X', b""), None);
    check(&postgres(b'Q', b""), None);
    check(
        &mysql(3, "UPDATE item SET i_stock = 3"),
        Some("UPDATE item"),
    );
    check(
        &mysql(0x16, "SELECT a FROM author WHERE id = ?"),
        Some("SELECT author"),
    );
    check(&mysql(2, "shop"), None);
    // The packet ends before the following text.
    let two = [&mysql(3, "SELECT 1"), &b" FROM t"[..]].concat();
    check(&two, Some("SELECT"));
}

#[test]
fn caches_by_command() {
    check(b"*2\r\n$3\r\nget\r\n$3\r\nkey\r\n", Some("redis GET"));
    check(b"*1\r\n$4\r\nPING\r\n", Some("redis PING"));
    check(b"*2\r\n$999999999\r\nGET", None);
    check(b"*2\r\n$99999999999999999999\r\nGET", None);
    check(b"*0\r\n$3\r\nGET\r\n", None);
    check(b"*1\r\n$3\r\nG\xffT\r\n", None);
    check(b"get key\r\n", Some("memcached get"));
    check(b"set key 0 0 5\r\nhello\r\n", Some("memcached set"));
    check(b"get key", None);
    check(b"hello key\r\n", None);
}

/// Random bytes, and randomly damaged messages.
#[test]
fn no_bytes_make_a_recogniser_fail() {
    let mut random = Random::new(11);
    let seeds = [
        b"GET /item/12?x=1 HTTP/1.1\r\n".to_vec(),
        postgres(
            b'Q',
            b"SELECT * FROM (SELECT `a`.b FROM \"t\") -- c\n WHERE x = 'y'\0",
        ),
        postgres(b'P', b"s\0WITH a AS (SELECT 1) DELETE FROM a\0"),
        mysql(3, "/* x */ INSERT INTO t(a) VALUES ((((1))))"),
        b"*2\r\n$3\r\nget\r\n$3\r\nkey\r\n".to_vec(),
        b"get key\r\n".to_vec(),
    ];
    let mut named = 0;
    for round in 0..60_000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..random.below(4) {
            let at = random.index(bytes.len());
            bytes[at] = random.bits() as u8;
        }
        let from = random.index(bytes.len()) * usize::from(random.below(8) == 0);
        let name = Recognition::On.name(&bytes[from..]);
        named += usize::from(name.is_some());
        assert!(name.is_none_or(|it| it.len() < 2000 && !it.contains('\n')));
        let noise: Vec<u8> = (0..random.below(40)).map(|_| random.bits() as u8).collect();
        Recognition::On.name(&noise);
    }
    assert!(named > 20_000, "{named}: most damage is beside what names");
}

#[test]
fn a_request_says_which_trace_it_belongs_to() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let whole = format!(
        "POST /buy?id=7 HTTP/1.1\r\nHost: shop\r\nTraceParent:  {PARENT} \r\nContent-Length: 3\r\n\r\nabc"
    );
    let value = whole.find("Content").expect("it has one");
    for end in 0..=whole.len() {
        let bytes = &whole.as_bytes()[..end];
        match Recognition::On.traced(bytes) {
            Traced::Parent(parent) => {
                assert!(end >= value, "{end}");
                assert_eq!(parent.to_string(), PARENT);
            }
            Traced::Unfinished => assert!(end < value, "{end}"),
            Traced::Nothing => panic!("{end}"),
        }
        assert_eq!(Recognition::Off.traced(bytes), Traced::Nothing);
    }
}

#[test]
fn what_says_no_trace_is_known_as_soon_as_possible() {
    for (bytes, expect) in [
        ("", Traced::Unfinished),
        ("GET /buy HTTP/1.1\r\nHost: shop\r\n", Traced::Unfinished),
        ("GET /buy HTTP/1.1\r\nHost: shop\r\n\r\n", Traced::Nothing),
        // In the body, it is not a header.
        (
            "GET /buy HTTP/1.1\n\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n",
            Traced::Nothing,
        ),
        ("GET /buy HTTP/1.1\ntraceparent: 00-zz\n", Traced::Nothing),
        ("*1\r\n$4\r\nPING\r\n", Traced::Nothing),
        ("HTTP/1.1 200 OK\r\n", Traced::Nothing),
    ] {
        assert_eq!(
            Recognition::On.traced(bytes.as_bytes()),
            expect,
            "{bytes:?}"
        );
    }
}
