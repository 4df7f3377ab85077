//! The standard requests that this server answers, declared as our own are.

use crate::protocol::Method;

macro_rules! standard {
    ($($name:ident = $text:literal: $request:ident;)*) => {
        $(
            /// The standard request, as a method of ours.
            #[derive(Clone, Copy, Debug)]
            pub(crate) enum $name {}
            impl Method for $name {
                const NAME: &'static str = $text;
                type Params = <gen_lsp_types::$request as gen_lsp_types::Request>::Params;
                type Result = <gen_lsp_types::$request as gen_lsp_types::Request>::Result;
            }
        )*
    };
}

standard! {
    HoverMethod = "textDocument/hover": HoverRequest;
    InlayHintMethod = "textDocument/inlayHint": InlayHintRequest;
    CompletionMethod = "textDocument/completion": CompletionRequest;
    CodeActionMethod = "textDocument/codeAction": CodeActionRequest;
}
