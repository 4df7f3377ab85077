//! A server in miniature, to put progress points everywhere.

use std::collections::HashMap;
use std::sync::Arc;

/* A constant cannot hold one. */
const LIMIT: usize = limit(3);

const fn limit(n: usize) -> usize {
    n * 2
}

macro_rules! twice {
    ($what:expr) => {{
        let first = $what;
        first + $what
    }};
}

#[derive(Debug, Default)]
pub struct Server {
    pages: HashMap<String, String>,
    hits: u64,
}

impl Server {
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves until there is nothing more.
    pub fn serve(&mut self, requests: &[&str]) -> Result<u64, String> {
        'all: for request in requests {
            if request.is_empty() {
                continue 'all;
            }
            let page = match self.pages.get(*request) {
                Some(page) => page.clone(),
                None if requests.len() > LIMIT => break,
                None => return Err(format!("no {request}")), // gone
            };
            self.hits += 1;
            while self.hits > 1_000 {
                self.hits -= 1
            }
            print(&page)
        }
        loop {
            if self.hits == 0 { break; }
            self.hits -= 1;
        }
        Ok(self.hits)
    }

    fn shared(self: Arc<Self>) -> std::thread::JoinHandle<usize> {
        std::thread::spawn(move || {
            let mut total = 0;
            for (name, page) in &self.pages {
                // The longest first.
                total += name.len() + page.len();
            }

            total
        })
    }
}

fn print(page: &str) {
    if page.len() > 80 {
        println!("{}", &page[..80]);
    } else {
        println!("{page}")
    }
}

fn one(values: &[u32]) -> Vec<u32> { values.iter().map(|v| twice!(*v)).collect() }

fn nothing() {}

async fn later(urls: Vec<String>) {
    for url in urls {
        let task = async move {
            fetch(&url).await;
            println!("{url}");
        };
        #[allow(clippy::let_unit_value)]
        let done = task.await;
        drop(done)
    }
}

async fn fetch(_: &str) {
    unsafe { std::hint::unreachable_unchecked() }
}
