//! The values of the call that a thread is about to enter or leave, until it does.

use fulcrum_agent_core::Stamp;
use fulcrum_wire::log::{PayloadBuffer, Value};

/// What was told so far.
#[derive(Default)]
pub struct Told {
    values: PayloadBuffer,
    count: u64,
    /// The first one was told: a session may begin in the middle of them.
    begun: bool,
    stamp: Option<Stamp>,
}

impl Told {
    /// What comes next is the first; `stamp` is when the call was about to return, if it is. What was told before led to no
    /// event.
    pub fn begin(&mut self, stamp: Option<Stamp>) {
        self.clear();
        (self.begun, self.stamp) = (true, stamp);
    }

    /// The next one.
    pub fn add(&mut self, value: &Value<'_>) {
        if self.begun {
            self.values.put(value);
            self.count += 1;
        }
    }

    /// What a call is given that has so many arguments, which is over with that.
    pub fn take_arguments(&mut self, method: u32, all: u32) -> PayloadBuffer {
        let payload = PayloadBuffer::default()
            .number(u64::from(method))
            .number(u64::from(all))
            .number(self.count)
            .payload(&self.values);
        self.clear();
        payload
    }

    /// What a call returns, which is over with that, and when it was about to.
    pub fn take_result(&mut self, method: u32) -> (PayloadBuffer, Option<Stamp>) {
        let mut payload = PayloadBuffer::default().number(u64::from(method));
        if self.count == 0 {
            // The session began in the middle of this.
            payload.put(&Value::Unknown);
        }
        let told = (payload.payload(&self.values), self.stamp);
        self.clear();
        told
    }

    fn clear(&mut self) {
        self.values.clear();
        (self.count, self.begun, self.stamp) = (0, false, None);
    }
}
