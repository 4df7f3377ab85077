//! By what puts and takes are joined, and what that assumes.

use super::collect::Operation;
use super::queue::{Order, Queue};

impl Order {
    /// What the log allows: objects where both puts and takes tell theirs, else first in, first out.
    pub(super) fn best(operations: &[Operation]) -> Order {
        let told = |put: bool| {
            let mut those = operations.iter().filter(|it| it.put == put);
            those.any(|it| it.object.is_some())
        };
        match told(true) && told(false) {
            true => Order::Identity,
            false => Order::Fifo,
        }
    }
}

impl Queue {
    /// What was assumed to join puts and takes: whole sentences.
    pub fn assumed(&self) -> String {
        let queues = match self.queues.len() {
            0 | 1 => String::new(),
            several => format!(
                " {several} queues are told apart by the object that the calls are made on."
            ),
        };
        let order = match self.order {
            Order::Identity => {
                "Requests are told apart by the objects that were put and returned: nothing is assumed about their order."
            }
            Order::Fifo => {
                "Requests are taken to leave in the order in which their puts returned (fifo)."
            }
            Order::Lifo => "The request whose put returned last is taken to leave first (lifo).",
        };
        let found = match self.overtaken {
            Some(0) => " None was overtaken by one that was put later.".to_owned(),
            Some(1) => " 1 was overtaken by one that was put later.".to_owned(),
            Some(many) => format!(" {many} were overtaken by one that was put later."),
            None => String::new(),
        };
        format!("{order}{queues}{found}")
    }
}
