//! Eight threads that insert rows, each into a table of its own in-memory database, as in COZ §4.2.3. SQLite locks around
//! every allocation and every page that it fetches, and hardly any lock waits, so this shows the cost of a profiler's
//! hooks. With only inserts, there are ten million lock calls per second. `ROW_STEPS=25000` computes each row first
//! (25 µs), which leaves about one million. The targets are in SQLite; the right answer is not known.

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::time::Instant;

use libsqlite3_sys as sqlite;

#[path = "../sample.rs"]
mod sample;

const THREADS: u64 = 8;

struct Database(*mut sqlite::sqlite3);

impl Database {
    fn open() -> Database {
        let mut handle = null_mut();
        // SAFETY: the name is a C string, and `handle` lives through the call.
        let code = unsafe { sqlite::sqlite3_open(c":memory:".as_ptr(), &mut handle) };
        assert_eq!(code, sqlite::SQLITE_OK, "a database in memory opens");
        Database(handle)
    }

    fn execute(&self, text: &CStr) {
        // SAFETY: the database is open, the text a C string, and there is no callback.
        let code =
            unsafe { sqlite::sqlite3_exec(self.0, text.as_ptr(), None, null_mut(), null_mut()) };
        assert_eq!(code, sqlite::SQLITE_OK, "{text:?}");
    }

    fn prepare(&self, text: &CStr) -> *mut sqlite::sqlite3_stmt {
        let mut statement = null_mut();
        // SAFETY: as above; -1 stands for the length of a C string.
        let code = unsafe {
            sqlite::sqlite3_prepare_v2(self.0, text.as_ptr(), -1, &mut statement, null_mut())
        };
        assert_eq!(code, sqlite::SQLITE_OK, "{text:?}");
        statement
    }
}

/// Inserts rows into a separate table, which is emptied now and then, so that an endless run does not fill the memory.
fn insert(table: u64, rows: u64, steps: u64) -> u64 {
    let database = Database::open();
    database.execute(
        &CString::new(format!(
            "CREATE TABLE t{table} (id INTEGER PRIMARY KEY, name TEXT)"
        ))
        .unwrap(),
    );
    let empty = CString::new(format!("DELETE FROM t{table}")).unwrap();
    let insert =
        database.prepare(&CString::new(format!("INSERT INTO t{table} (name) VALUES (?)")).unwrap());
    let mut sum = 0;
    for row in 0..rows {
        let value = (0..steps).fold(row, |x, _| x.wrapping_mul(sample::FACTOR) ^ 1);
        let name = format!("row {row} of table {table}: {value:x}");
        // SAFETY: the statement was prepared above; `name` lives until the statement is reset.
        unsafe {
            let length = i32::try_from(name.len()).expect("a short name");
            sqlite::sqlite3_bind_text(
                insert,
                1,
                name.as_ptr().cast(),
                length,
                sqlite::SQLITE_STATIC(),
            );
            assert_eq!(sqlite::sqlite3_step(insert), sqlite::SQLITE_DONE);
            sqlite::sqlite3_reset(insert);
            sum += sqlite::sqlite3_last_insert_rowid(database.0).unsigned_abs();
        }
        if row % 10_000 == 9_999 {
            database.execute(&empty);
        }
        fulcrum_progress::progress!("row");
    }
    // SAFETY: neither is used after this.
    unsafe {
        sqlite::sqlite3_finalize(insert);
        sqlite::sqlite3_close(database.0);
    }
    sum
}

fn main() {
    let units = sample::units();
    let rows = units / THREADS;
    let steps =
        std::env::var("ROW_STEPS").map_or(0, |steps| steps.parse().expect("ROW_STEPS is a number"));
    // SAFETY: nothing uses SQLite yet. Serialized: every connection has a mutex, as SQLite's own default is.
    unsafe { sqlite::sqlite3_config(sqlite::SQLITE_CONFIG_SERIALIZED, null::<u8>()) };
    let start = Instant::now();
    let threads: Vec<_> = (0..THREADS)
        .map(|table| std::thread::spawn(move || insert(table, rows, steps)))
        .collect();
    let sum = threads
        .into_iter()
        .map(|thread| thread.join().expect("SQLite does not fail"))
        .sum();
    sample::report(rows * THREADS, start, sum);
}
