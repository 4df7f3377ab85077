//! The verb and the first table of an SQL statement.

use super::tokens::{Dialect, Token, Tokens};

/// The most characters of a table name that are kept.
const LONGEST_NAME: usize = 64;
/// The deepest nesting of parentheses.
const DEEPEST: u32 = 60;

/// Statements named by their verb alone.
const PLAIN: [&str; 16] = [
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "SHOW",
    "USE",
    "EXPLAIN",
    "ANALYZE",
    "VACUUM",
    "DEALLOCATE",
    "FETCH",
    "CLOSE",
    "GRANT",
];

/// `SELECT item` of `SELECT i_title FROM item WHERE i_id = 7`.
pub(super) fn name(dialect: Dialect, text: &[u8]) -> Option<String> {
    let mut tokens = Tokens::new(dialect, text);
    let verb = tokens.find_map(|it| match it {
        // `(SELECT …) UNION …`
        Token::Open => None,
        other => Some(other.keyword()),
    })??;
    match &*verb {
        "WITH" => {
            let verb = main_verb(&mut tokens)?;
            Some(named(&verb, tokens))
        }
        plain if PLAIN.contains(&plain) => Some(verb),
        "SELECT" | "INSERT" | "REPLACE" | "UPDATE" | "DELETE" | "MERGE" | "CALL" | "EXECUTE"
        | "CREATE" | "DROP" | "ALTER" | "TRUNCATE" | "LOCK" | "COPY" => Some(named(&verb, tokens)),
        _ => None,
    }
}

fn named(verb: &str, tokens: Tokens) -> String {
    let table = match verb {
        "SELECT" => selected(tokens),
        "DELETE" => after(tokens, "FROM", &["ONLY"]),
        "MERGE" => after(tokens, "INTO", &[]),
        "CREATE" | "DROP" | "ALTER" => after(tokens, "TABLE", &["IF", "NOT", "EXISTS", "ONLY"]),
        _ => first_name(
            tokens,
            &[
                "INTO",
                "LOW_PRIORITY",
                "HIGH_PRIORITY",
                "DELAYED",
                "IGNORE",
                "ONLY",
                "TABLE",
                "TABLES",
            ],
        ),
    };
    match table {
        Some(table) => format!("{verb} {table}"),
        None => verb.into(),
    }
}

/// The verb that follows the common table expressions.
fn main_verb(tokens: &mut Tokens) -> Option<String> {
    let mut depth = 0_u32;
    tokens.find_map(|token| {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        let verb = token.keyword().filter(|_| depth == 0)?;
        ["SELECT", "INSERT", "UPDATE", "DELETE"]
            .contains(&&*verb)
            .then_some(verb)
    })
}

/// The first table of a query. Ignores the `FROM` in `EXTRACT(YEAR FROM day)`.
fn selected(mut tokens: Tokens) -> Option<String> {
    // Has a bit for each depth of parentheses at which there is a query.
    let mut queries = 1_u64;
    let mut depth = 0_u32;
    while let Some(token) = tokens.next() {
        match token {
            Token::Open if depth >= DEEPEST => return None,
            Token::Open => {
                depth += 1;
                queries &= !(1 << depth);
            }
            Token::Close => depth = depth.saturating_sub(1),
            Token::Word(word) if word.eq_ignore_ascii_case(b"SELECT") => queries |= 1 << depth,
            Token::Word(word)
                if word.eq_ignore_ascii_case(b"FROM") && queries >> depth & 1 == 1 =>
            {
                // `FROM (SELECT … FROM item)` has its table further inside.
                if let Some(table) = first_name(tokens.clone(), &["ONLY", "LATERAL"]) {
                    return Some(table);
                }
            }
            _ => {}
        }
    }
    None
}

fn after(mut tokens: Tokens, keyword: &str, skipped: &[&str]) -> Option<String> {
    tokens.find(|it| it.keyword().is_some_and(|it| it == keyword))?;
    first_name(tokens, skipped)
}

/// The next token as a name, with its schema, if it is one.
fn first_name(mut tokens: Tokens, skipped: &[&str]) -> Option<String> {
    let mut token = tokens.next()?;
    while token.keyword().is_some_and(|it| skipped.contains(&&*it)) {
        token = tokens.next()?;
    }
    let mut name = token.name()?;
    while let Some(Token::Dot) = tokens.clone().next() {
        tokens.next();
        match tokens.next().and_then(Token::name) {
            Some(part) => name = format!("{name}.{part}"),
            None => break,
        }
    }
    Some(match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_named_by_its_verb_and_first_table() {
        for (text, expect) in [
            ("SELECT i_title FROM item WHERE i_id = 7", "SELECT item"),
            ("select * from `shop`.`item` limit 1", "SELECT shop.item"),
            (
                "SELECT * FROM public.\"Order Line\"",
                "SELECT public.Order Line",
            ),
            ("SELECT @@version", "SELECT"),
            ("/* app=x */ -- hint\n SELECT 1 FROM t", "SELECT t"),
            ("(SELECT a FROM t1) UNION (SELECT b FROM t2)", "SELECT t1"),
            ("SELECT EXTRACT(YEAR FROM day) FROM orders", "SELECT orders"),
            (
                "SELECT (SELECT 1), EXTRACT(YEAR FROM day) FROM orders",
                "SELECT orders",
            ),
            (
                "SELECT (SELECT max(x) FROM inner_t) FROM outer_t",
                "SELECT inner_t",
            ),
            ("SELECT * FROM (SELECT * FROM item) AS i", "SELECT item"),
            ("SELECT 'it''s FROM x' FROM t", "SELECT t"),
            ("INSERT INTO cart VALUES (1)", "INSERT cart"),
            ("insert ignore into cart(id) values (1)", "INSERT cart"),
            ("REPLACE cart VALUES (1)", "REPLACE cart"),
            ("UPDATE LOW_PRIORITY item SET a = 1", "UPDATE item"),
            ("DELETE FROM ONLY item", "DELETE item"),
            ("MERGE INTO t USING s", "MERGE t"),
            ("WITH a AS (SELECT 1 FROM x) SELECT * FROM a", "SELECT a"),
            (
                "WITH a AS (DELETE FROM x) INSERT INTO y SELECT 1",
                "INSERT y",
            ),
            ("CREATE TABLE IF NOT EXISTS t (a int)", "CREATE t"),
            ("CREATE INDEX i ON t (a)", "CREATE"),
            ("TRUNCATE TABLE t", "TRUNCATE t"),
            ("LOCK TABLES item WRITE", "LOCK item"),
            ("CALL buy(7)", "CALL buy"),
            ("commit", "COMMIT"),
            ("SET autocommit=0", "SET"),
            ("SELECT a FROM t\0garbage FROM u", "SELECT t"),
        ] {
            for dialect in [Dialect::Postgres, Dialect::MySql] {
                let text = match dialect {
                    Dialect::Postgres => text.replace('`', "\""),
                    Dialect::MySql => text.replace('"', "`"),
                };
                let found = name(dialect, text.as_bytes());
                assert_eq!(found.as_deref(), Some(expect), "{dialect:?} {text}");
            }
        }
        for text in [
            "",
            "  ",
            "hello world",
            "7",
            "'SELECT'",
            "((",
            "/* never ends",
            "\0SELECT",
        ] {
            assert_eq!(name(Dialect::MySql, text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn values_are_never_part_of_a_name() {
        for (dialect, text) in [
            (Dialect::MySql, r"SELECT 'it\' FROM secret' FROM t"),
            (Dialect::MySql, r#"SELECT "a FROM secret" FROM t"#),
            (Dialect::MySql, "SELECT 1 # FROM secret\n FROM t"),
            (
                Dialect::Postgres,
                r"SELECT '\' FROM t WHERE a = ' FROM secret'",
            ),
            (Dialect::Postgres, r"SELECT E'it\' FROM secret' FROM t"),
            (Dialect::Postgres, "SELECT $$ FROM secret $$ FROM t"),
            (
                Dialect::Postgres,
                "SELECT $a$ $$ FROM secret $a$, $1 FROM t",
            ),
        ] {
            let found = name(dialect, text.as_bytes());
            assert_eq!(found.as_deref(), Some("SELECT t"), "{text}");
        }
        let cut = "SELECT 'a FROM secret";
        assert_eq!(
            name(Dialect::Postgres, cut.as_bytes()).as_deref(),
            Some("SELECT")
        );
    }

    #[test]
    fn a_name_is_never_long() {
        let long = format!("SELECT * FROM {}", "t".repeat(100));
        let expect = format!("SELECT {}…", "t".repeat(64));
        assert_eq!(name(Dialect::MySql, long.as_bytes()), Some(expect));
        let deep = format!("SELECT {} FROM t", "(".repeat(100));
        assert_eq!(
            name(Dialect::MySql, deep.as_bytes()).as_deref(),
            Some("SELECT")
        );
    }
}
