//! Messages to and from the client, on standard input and output.
//!
//! Results become text where they are made. A flame graph has hundreds of thousands of numbers: as values of `serde_json` they
//! would be twenty times as large as the text, and take longer to write than to compute.

use std::io::{self, Write};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{Connection, Message, RequestId, Response, ResponseError};

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) id: RequestId,
    /// The result, as JSON.
    pub(crate) result: Result<String, ResponseError>,
}

/// What is sent to the client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Message),
    Answered(Answered),
}

/// Where messages to the client go.
#[derive(Clone, Debug)]
pub(crate) enum Client {
    /// To a thread that writes them.
    Writer(Sender<Outgoing>),
    /// To a client in this process.
    Here(Sender<Message>),
}

impl Client {
    pub(crate) fn send(&self, it: Outgoing) {
        // The other end is gone only when the client is; the loop sees that for itself.
        let _ = match self {
            Client::Writer(to) => to.send(it).is_ok(),
            Client::Here(to) => to.send(it.into_message()).is_ok(),
        };
    }
}

impl Outgoing {
    fn into_message(self) -> Message {
        match self {
            Outgoing::Message(message) => message,
            Outgoing::Answered(Answered { id, result }) => {
                let value = |text: String| serde_json::from_str(&text).expect("it is JSON");
                let response_result = result.map(value);
                Response {
                    id,
                    response_result,
                }
                .into()
            }
        }
    }

    fn write(self, to: &mut impl Write) -> io::Result<()> {
        let (id, result) = match self {
            Outgoing::Answered(Answered {
                id,
                result: Ok(result),
            }) => (serde_json::to_string(&id)?, result),
            other => return other.into_message().write(to),
        };
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        let length = start.len() + result.len() + 1;
        write!(to, "Content-Length: {length}\r\n\r\n{start}")?;
        to.write_all(result.as_bytes())?;
        to.write_all(b"}")?;
        to.flush()
    }
}

/// The threads that read and write.
pub(crate) struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until the client has gone and everything is written.
    pub(crate) fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| {
            let panicked = |panic| std::panic::resume_unwind(panic);
            thread.join().unwrap_or_else(panicked)
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// A client on standard input and output. The writer ends when the connection and all clones of the client are dropped.
pub(crate) fn stdio() -> io::Result<(Connection, Client, Threads)> {
    let (answers, outgoing) = bounded(0);
    let (sender, messages) = bounded(0);
    let (incoming, receiver) = bounded(0);
    let client = Client::Writer(answers);
    let forward = client.clone();
    // Only the first messages are sent by the connection itself.
    named("fulcrum-forwarder").spawn(move || {
        let all = messages.into_iter().map(Outgoing::Message);
        all.for_each(|it| forward.send(it));
    })?;
    let writer = named("fulcrum-writer").spawn(move || write_all(outgoing))?;
    let reader = named("fulcrum-reader").spawn(move || read_all(&incoming))?;
    let connection = Connection { sender, receiver };
    Ok((connection, client, Threads { reader, writer }))
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

fn write_all(outgoing: Receiver<Outgoing>) -> io::Result<()> {
    let mut to = io::stdout().lock();
    outgoing.into_iter().try_for_each(|it| it.write(&mut to))
}

fn read_all(to: &Sender<Message>) -> io::Result<()> {
    let mut from = io::stdin().lock();
    while let Some(message) = Message::read(&mut from)? {
        let last = matches!(&message, Message::Notification(it) if it.method == "exit");
        to.send(message).map_err(io::Error::other)?;
        if last {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_server::Notification;
    use serde_json::json;

    /// What is written is read again as the same message that a client in this process gets.
    #[test]
    fn what_is_written_is_what_is_meant() {
        let answered = |id: RequestId, result| Outgoing::Answered(Answered { id, result });
        let failure = || ResponseError {
            code: -3,
            message: "no".into(),
            data: Some(json!({ "advice": "try \"yes\"" })),
        };
        let all = || {
            let notification = Notification::new("n".into(), [1, 2]);
            let result = json!(["é\n\"", 0.1, -1, { "a": null }]).to_string();
            [
                Outgoing::Message(notification.into()),
                answered(7.into(), Ok(result)),
                answered("a\"b".to_owned().into(), Ok("null".into())),
                answered(8.into(), Err(failure())),
            ]
        };
        for (written, meant) in all().into_iter().zip(all()) {
            let mut bytes = Vec::new();
            written.write(&mut bytes).expect("memory takes it");
            let mut rest = &bytes[..];
            let read = Message::read(&mut rest).expect("a message");
            let text = |it: &Message| serde_json::to_string(it).expect("JSON");
            assert_eq!(read.as_ref().map(text), Some(text(&meant.into_message())));
            assert!(rest.is_empty());
        }
    }
}
