//! Sessions with a program that has objects collected all the time. JDK 17 stands still for ever when who listens to
//! releases changes at a moment when it tells some.

use std::fs;

use crate::common::fulcrum;
use crate::common::java::{end, program, start};
use fulcrum_test_support::libraries;
use fulcrum_test_support::wait::until;

/// A program that has objects collected all the time, until something comes on its standard input.
const COLLECTING: &str = "public class Main {\n\
   static volatile byte[] last;\n\
   public static void main(String[] a) throws Exception {\n\
     for (int size : new int[] {2000, 2000, 2000000}) {\n\
       Thread thread = new Thread(() -> { for (;;) last = new byte[size]; });\n\
       thread.setDaemon(true);\n\
       thread.start();\n\
     }\n\
     System.out.println(\"ready\");\n\
     System.in.read();\n\
   }\n\
 }";

/// Records the program for a moment that many times, then until a session is told of what was collected, and has it end by
/// itself.
pub(crate) fn check(sessions: u32) {
    libraries::all();
    let folder = tempfile::tempdir().unwrap();
    program(COLLECTING, folder.path());
    let filter = folder.path().join("f.fulcrum-filter");
    fs::write(&filter, "observe_object_allocation byte[]\n").unwrap();
    let mut child = start(folder.path(), &["-Xmx64m"]);
    let pid = child.id().to_string();
    // Whether both allocations and releases are in the log.
    let session = |ms: u64| {
        let run = folder.path().join("run");
        let time = format!("{ms}ms");
        let trace = fulcrum(&["trace", "--quiet", "--for", &time, "--attach", &pid])
            .arg("--filter")
            .arg(&filter)
            .arg("--output")
            .arg(&run)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&trace.stderr).into_owned();
        if !said.is_empty() || !trace.status.success() {
            return Err(said);
        }
        let list = fulcrum(&["events", "list", run.to_str().unwrap(), "--json"]).output();
        let told = String::from_utf8(list.unwrap().stdout).unwrap();
        fs::remove_dir_all(run).unwrap();
        let has = |kind: &str| told.contains(&format!("\"event\":\"{kind}\""));
        Ok(has("allocation") && has("release"))
    };
    let result = (0..sessions)
        .try_for_each(|_| session(20).map(|_| ()))
        .and_then(|()| {
            // On a busy machine nothing may be collected for a while.
            let mut ms = 10;
            until("a session that is told of releases", || {
                ms *= 2;
                match session(ms) {
                    Ok(told) => told.then_some(Ok(())),
                    Err(said) => Some(Err(said)),
                }
            })
        });
    if result.is_err() {
        child.kill().unwrap();
    }
    assert_eq!(result, Ok(()));
    assert_eq!(end(child), (String::new(), Some(0)));
}
