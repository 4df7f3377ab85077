//! By which order puts and takes are joined, and what that assumes.

use super::collect::{Action, Operation};
use super::queue::{Order, Queue};

impl Order {
    /// The best order for a log: identity if the log has the objects of both puts and takes, otherwise first in, first out.
    pub(super) fn best(operations: &[Operation]) -> Order {
        let has_objects = |action: Action| {
            let mut those = operations.iter().filter(|it| it.action == action);
            those.any(|it| it.object.is_some())
        };
        match has_objects(Action::Put) && has_objects(Action::Take) {
            true => Order::Identity,
            false => Order::Fifo,
        }
    }
}

impl Queue {
    /// What was assumed to join puts and takes, in whole sentences.
    pub fn assumed(&self) -> String {
        let queues = match self.queues.len() {
            0 | 1 => String::new(),
            several => format!(
                " {several} queues are told apart by the object that the calls are made on."
            ),
        };
        let order = match self.order {
            Order::Identity => {
                "Requests are told apart by the objects that were put and returned: no order is assumed."
            }
            Order::Fifo => {
                "Assumption: requests leave in the order in which their puts returned (fifo)."
            }
            Order::Lifo => "Assumption: the request whose put returned last leaves first (lifo).",
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
