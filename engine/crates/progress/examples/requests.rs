//! A small server: one thread makes requests, two answer them. `fulcrum run -- requests [COUNT]` says which line to
//! make faster. Without COUNT, it runs until it is stopped.

use std::hint::black_box;
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use fulcrum_progress::{begin, end, progress, scope};

fn main() {
    let count = std::env::args().nth(1).map_or(u64::MAX, |text| {
        text.parse().expect("usage: requests [COUNT], a number")
    });
    let (send, receive) = sync_channel(16);
    let receive = Arc::new(Mutex::new(receive));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let receive = Arc::clone(&receive);
            thread::spawn(move || answer_all(&receive))
        })
        .collect();
    for request in 0..count {
        begin!("request");
        send.send(request).expect("the workers listen");
    }
    drop(send);
    for worker in workers {
        worker.join().expect("no worker panics");
    }
}

fn answer_all(requests: &Mutex<Receiver<u64>>) {
    loop {
        let Ok(request) = requests.lock().expect("no worker panics").recv() else {
            return;
        };
        answer(request);
        end!("request");
        progress!("answered");
        progress!();
    }
}

/// Two thirds of the work is parsing.
fn answer(request: u64) {
    let _answer = scope!("answer");
    black_box(mix(request, 200_000));
    black_box(mix(request, 100_000));
}

fn mix(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    x
}
