//! The client's side: sends, waits, remembers what came in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, ResponseError};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::protocol::uri;
use crate::{Real, Recorder, ServerError};

/// A broken server must fail a test, not hang it. Generous: it is no threshold.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Client {
    connection: Option<Connection>,
    server: Option<JoinHandle<Result<(), ServerError>>>,
    next: i32,
    notifications: Vec<Notification>,
    responses: Vec<(RequestId, Result<Value, ResponseError>)>,
    folder: TempDir,
    pub initialized: Value,
}

impl Client {
    /// A workspace with these files, and a server on it that knows our editor.
    pub(crate) fn start(files: &[(&str, &str)]) -> Client {
        let capabilities = json!({ "general": { "markdown": { "parser": "marked" } } });
        Client::start_with(files, capabilities, Arc::new(Real))
    }

    pub(crate) fn start_with(
        files: &[(&str, &str)],
        capabilities: Value,
        recorder: Arc<dyn Recorder>,
    ) -> Client {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("below the workspace")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let (ours, theirs) = Connection::memory();
        let server = std::thread::spawn(move || crate::run(&theirs, recorder));
        let mut client = Client {
            connection: Some(ours),
            server: Some(server),
            next: 1,
            notifications: Vec::new(),
            responses: Vec::new(),
            folder,
            initialized: Value::Null,
        };
        let root = uri::from_path(&client.root());
        client.initialized = client.ok(
            "initialize",
            json!({
                "processId": null,
                "rootUri": root,
                "capabilities": capabilities,
                "workspaceFolders": [{ "uri": root, "name": "workspace" }],
            }),
        );
        client.notify("initialized", json!({}));
        client
    }

    /// The workspace folder, links resolved.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .expect("the folder exists")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri::from_path(&self.path(name))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = Notification {
            method: method.into(),
            params,
        };
        self.connection
            .as_ref()
            .expect("not left")
            .sender
            .send(message.into())
            .expect("the server is there");
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i32 {
        let id = self.next;
        self.next += 1;
        let message = Request {
            id: id.into(),
            method: method.into(),
            params,
        };
        self.connection
            .as_ref()
            .expect("not left")
            .sender
            .send(message.into())
            .expect("the server is there");
        id
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.send(method, params);
        self.response(id)
    }

    /// A request that must succeed.
    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        match self.request(method, params) {
            Ok(value) => value,
            Err(error) => panic!("{method} failed: {} {:?}", error.message, error.data),
        }
    }

    /// A request that must fail: its message, then blame and advice.
    pub(crate) fn failure(&mut self, method: &str, params: Value) -> String {
        match self.request(method, params) {
            Ok(value) => panic!("{method} did not fail: {value}"),
            Err(error) => self.describe(&error),
        }
    }

    pub(crate) fn describe(&self, error: &ResponseError) -> String {
        let data = error.data.clone().unwrap_or_default();
        let advice = data["advice"].as_str().unwrap_or("-");
        let text = format!(
            "{} {} [{}] {}\n",
            error.code,
            error.message,
            data["blame"].as_str().unwrap_or("-"),
            advice
        );
        self.relative(&text)
    }

    pub(crate) fn response(&mut self, id: i32) -> Result<Value, ResponseError> {
        loop {
            if let Some(at) = self
                .responses
                .iter()
                .position(|(other, _)| *other == id.into())
            {
                return self.responses.remove(at).1;
            }
            self.receive();
        }
    }

    /// Whether a response to this id came; a round trip makes sure that it would have.
    pub(crate) fn has_response(&mut self, id: i32) -> bool {
        let _ = self.request("test/no-such-method", json!({}));
        self.responses.iter().any(|(other, _)| *other == id.into())
    }

    /// The next notification of a method, taken out.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        self.notification_where(method, |_| true)
    }

    pub(crate) fn notification_where(
        &mut self,
        method: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        loop {
            let found = self
                .notifications
                .iter()
                .position(|n| n.method == method && wanted(&n.params));
            if let Some(at) = found {
                return self.notifications.remove(at).params;
            }
            self.receive();
        }
    }

    fn receive(&mut self) {
        let connection = self.connection.as_ref().expect("not left");
        match connection
            .receiver
            .recv_timeout(PATIENCE)
            .expect("the server answers")
        {
            Message::Notification(notification) => self.notifications.push(notification),
            Message::Response(response) => {
                self.responses.push((response.id, response.response_result))
            }
            Message::Request(request) => panic!("the server asks for {}", request.method),
        }
    }

    pub(crate) fn open_document(&mut self, name: &str, text: &str) {
        let language = if name.ends_with(".c") { "c" } else { "cpp" };
        let uri = self.uri(name);
        self.notify(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "languageId": language, "version": 1, "text": text } }),
        );
    }

    pub(crate) fn replace_document(&mut self, name: &str, version: i32, text: &str) {
        let uri = self.uri(name);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    pub(crate) fn open_profile(&mut self, path: &Path) -> Value {
        self.ok("fulcrum/causal/open", json!({ "path": path }))
    }

    /// Shuts the server down as the protocol wants it; what it returned.
    pub(crate) fn leave(mut self) -> Result<(), ServerError> {
        assert_eq!(self.ok("shutdown", Value::Null), Value::Null);
        self.leave_after_shutdown()
    }

    pub(crate) fn leave_after_shutdown(mut self) -> Result<(), ServerError> {
        self.notify("exit", Value::Null);
        self.server
            .take()
            .expect("not left")
            .join()
            .expect("the server does not panic")
    }

    /// Closes the connection without a word.
    pub(crate) fn vanish(mut self) -> Result<(), ServerError> {
        self.connection = None;
        self.server
            .take()
            .expect("not left")
            .join()
            .expect("the server does not panic")
    }

    /// Text without this machine's folders: the workspace is `/workspace`.
    pub(crate) fn relative(&self, text: &str) -> String {
        let root = self.root();
        text.replace(&uri::from_path(&root), "file:///workspace")
            .replace(&*root.to_string_lossy(), "/workspace")
    }

    /// JSON for a snapshot.
    pub(crate) fn pretty(&self, value: &Value) -> String {
        self.relative(&serde_json::to_string_pretty(value).expect("JSON")) + "\n"
    }
}
