//! The values of the call that a thread is about to enter or leave.

use fulcrum_agent_core::Stamp;
use fulcrum_wire::log::{PayloadBuffer, Value};

/// The values so far.
#[derive(Default)]
pub(crate) struct PendingValues {
    values: PayloadBuffer,
    count: u64,
    /// Whether the first value was seen: a session may begin in the middle of them.
    begun: bool,
    stamp: Option<Stamp>,
}

impl PendingValues {
    /// The next value is the first. `stamp` is when the call was about to return, if it is. Drops earlier values, which led
    /// to no event.
    pub(crate) fn begin(&mut self, stamp: Option<Stamp>) {
        self.clear();
        (self.begun, self.stamp) = (true, stamp);
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, value: &Value<'_>) {
        if self.begun {
            self.values.put(value);
            self.count += 1;
        }
    }

    /// Takes the arguments of a call, which has `all` of them.
    pub(crate) fn take_arguments(&mut self, method: u32, all: u32) -> PayloadBuffer {
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(u64::from(all))
            .number(self.count)
            .payload(&self.values);
        self.clear();
        payload
    }

    /// Takes the result of a call, and when the call was about to return.
    pub(crate) fn take_result(&mut self, method: u32) -> (PayloadBuffer, Option<Stamp>) {
        let mut payload = PayloadBuffer::default().number(u64::from(method));
        if self.count == 0 {
            // The session began in between.
            payload.put(&Value::Unknown);
        }
        let taken = (payload.payload(&self.values), self.stamp);
        self.clear();
        taken
    }

    fn clear(&mut self) {
        self.values.clear();
        (self.count, self.begun, self.stamp) = (0, false, None);
    }
}
