//! V8's sampling heap profiles, `.heapprofile`: a call tree with the bytes that each call allocated itself.
//!
//! Libraries: serde_json parses the file and `decode::nested` the tree, which may be deeper than serde allows.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::Parents;
use crate::collect::stacks::Stacks;
use crate::collect::units::{value, whole};
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::nested::{self, Call, Scalar};
use crate::formats::v8::{CallFrame, frame};
use crate::formats::v8_old;

/// The fields outside the tree.
#[derive(Deserialize)]
struct File {
    #[expect(dead_code, reason = "the key is required")]
    head: IgnoredAny,
}

/// A call in its context.
#[derive(Default)]
struct Node {
    frame: CallFrame,
    /// Bytes.
    size: Option<f64>,
}

impl<'a> Call<'a> for Node {
    const CHILDREN: &'static str = "children";

    fn set(&mut self, key: &str, value: Scalar<'a>) {
        match key {
            "functionName" => self.frame.function_name = value.text().into_owned(),
            "url" => self.frame.url = value.text().into_owned(),
            "lineNumber" => self.frame.line_number = Some(value.number() as i64),
            "columnNumber" => self.frame.column_number = Some(value.number() as i64),
            "selfSize" => self.size = Some(value.number()),
            _ => {}
        }
    }
}

/// Detects the key of the tree. Old `.cpuprofile` files have it, too.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["head"]) && !v8_old::detect(input)
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    input.parse::<File>()?;
    let nodes = nested::read::<Node>(input, "head")?;
    let mut stacks = Stacks::new(vec![value("size", "bytes")], 0)?;
    let mut parents = Parents::new(1);
    for (row, node) in nodes.iter().enumerate() {
        parents.push(frame(&node.call.frame, &mut stacks)?, node.parent);
        let size = node.call.size;
        let size = size.ok_or_else(|| Fault::whole("a call has no selfSize"));
        let size = size.and_then(|size| parents.add(row, 0, whole(size, 1.0)?));
        size.map_err(|fault| node.at(input, fault))?;
    }
    drop(nodes);
    parents.drain_into(None, &mut stacks)?;
    stacks.finish(Format::HeapProfile)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},
"selfSize":0,"id":1,"children":[{"callFrame":{"functionName":"","scriptId":"9","url":"file:///a/x.js","lineNumber":4,"columnNumber":7},
"selfSize":24,"id":2,"children":[{"callFrame":{"functionName":"f","scriptId":"9","url":"file:///a/x.js","lineNumber":9,"columnNumber":2},
"selfSize":4096,"id":3,"children":[]}]}]},"samples":[{"size":24,"nodeId":2,"ordinal":1}],"startTime":1,"endTime":2}"#;

    #[test]
    fn each_call_has_what_it_allocated_itself() {
        check(
            FILE,
            "size bytes* 4120
             (root) 0
             (root);(anonymous) x.js:5:8 24
             (root);(anonymous) x.js:5:8;f 4096",
        );
    }

    #[test]
    fn deep_programs_are_read() {
        let call = r#"{"callFrame":{"functionName":"f","url":"","lineNumber":-1},"selfSize":1,"children":["#;
        let text = format!("{{\"head\":{}{}}}", call.repeat(300), "]}".repeat(300));
        let profile = crate::read(text.as_bytes(), "x").expect("a profile");
        let crate::Calls::Tree(tree) = &profile.calls else {
            panic!("a tree");
        };
        assert_eq!((tree.len(), tree.total(0)), (300, 300));
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let wrong = FILE.replace("\"selfSize\":24", "\"selfSize\":-24");
        check_fault(wrong, 2, "expected a value of at least 0, got -24");
        let wrong = FILE.replace("\"selfSize\":4096,", "");
        check_fault(wrong, 3, "a call has no selfSize");
    }
}
