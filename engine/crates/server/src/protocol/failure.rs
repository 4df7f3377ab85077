//! Failed requests: one sentence, who can fix it, and how. Also results of requests as responses.

use fulcrum_model::Cancelled;
use lsp_server::{ErrorCode, RequestId, ResponseError};
use serde::Serialize;

use crate::protocol::transport::Answered;
use crate::protocol::{Blame, ErrorData};

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    code: i32,
    message: String,
    blame: Blame,
    advice: Option<String>,
}

impl Failure {
    /// The input is at fault; `message` or `advice` says what to do.
    pub(crate) fn user(message: impl Into<String>, advice: Option<&str>) -> Failure {
        Failure::new(
            ErrorCode::RequestFailed,
            Blame::User,
            message.into(),
            advice,
        )
    }

    /// The machine or its settings are at fault.
    pub(crate) fn environment(message: impl Into<String>, advice: Option<&str>) -> Failure {
        Failure::new(
            ErrorCode::RequestFailed,
            Blame::Environment,
            message.into(),
            advice,
        )
    }

    /// Fulcrum is at fault.
    pub(crate) fn fulcrum(message: impl Into<String>) -> Failure {
        let advice = "Fulcrum keeps working. Please report this with the log.";
        Failure::new(
            ErrorCode::InternalError,
            Blame::Fulcrum,
            message.into(),
            Some(advice),
        )
    }

    /// The request is about a state that is gone; the client should ask about the new one. Users need not be told.
    pub(crate) fn modified(message: String) -> Failure {
        Failure::new(ErrorCode::ContentModified, Blame::Fulcrum, message, None)
    }

    pub(crate) fn params(method: &str, error: &serde_json::Error) -> Failure {
        let message = format!("the parameters of {method} could not be read: {error}");
        Failure::new(ErrorCode::InvalidParams, Blame::Fulcrum, message, None)
    }

    pub(crate) fn unknown_method(method: &str) -> Failure {
        let message = format!("{method} is not a request that this server answers");
        Failure::new(ErrorCode::MethodNotFound, Blame::Fulcrum, message, None)
    }

    pub(crate) fn shutting_down(method: &str) -> Failure {
        let message = format!("{method} came after shutdown");
        Failure::new(ErrorCode::InvalidRequest, Blame::Fulcrum, message, None)
    }

    fn new(code: ErrorCode, blame: Blame, message: String, advice: Option<&str>) -> Failure {
        Failure {
            code: code as i32,
            message,
            blame,
            advice: advice.map(str::to_owned),
        }
    }

    pub(crate) fn response(self, id: RequestId) -> Answered {
        let data = ErrorData {
            blame: self.blame,
            advice: self.advice,
        };
        let data = serde_json::to_value(data).ok();
        let error = ResponseError {
            code: self.code,
            message: self.message,
            data,
        };
        Answered {
            id,
            result: Err(error),
        }
    }

    /// The sentence, for a note.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// A result as a response.
pub(crate) fn response<T: Serialize>(id: RequestId, result: Result<T, Failure>) -> Answered {
    let text = result.and_then(|value| {
        serde_json::to_string(&value)
            .map_err(|e| Failure::fulcrum(format!("a result could not be written: {e}")))
    });
    match text {
        Ok(text) => Answered {
            id,
            result: Ok(text),
        },
        Err(failure) => failure.response(id),
    }
}

impl From<fulcrum_runs::LoadError> for Failure {
    fn from(error: fulcrum_runs::LoadError) -> Failure {
        Failure::user(error.to_string(), None)
    }
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Failure {
        Failure::new(
            ErrorCode::RequestCanceled,
            Blame::User,
            Cancelled.to_string(),
            None,
        )
    }
}

impl From<fulcrum_profiles::Error> for Failure {
    fn from(error: fulcrum_profiles::Error) -> Failure {
        match error {
            fulcrum_profiles::Error::Cancelled => Cancelled.into(),
            error => Failure::user(error.to_string(), None),
        }
    }
}

impl From<fulcrum_recorder::Error> for Failure {
    fn from(error: fulcrum_recorder::Error) -> Failure {
        match &error {
            fulcrum_recorder::Error::CannotStart(text) => Failure::user(
                text.as_str(),
                Some("Correct it in Run Causal Profiler… and run again."),
            ),
            fulcrum_recorder::Error::CannotRecord(text) => Failure::environment(
                text.as_str(),
                Some("Nothing was recorded: fix this and run again."),
            ),
        }
    }
}
