//! `fulcrum transactions what-if`: what a run tells of the time without some waits or some work.

use serde_json::Value;

use crate::common::{check_bad, fulcrum, json};
use crate::price::{PAIR, recorded};

/// The till's checkouts wait for reports, and nothing else vanishes.
#[test]
fn what_a_run_would_be_without_waits_or_work_is_predicted() {
    let (_folder, run) = recorded();
    let what_if = ["transactions", "what-if", &run];
    let with = |options: &[&'static str]| [&what_if[..], options].concat();

    let found = json(&with(&[&PAIR[..], &["--json"]].concat()));
    let crosstalk = json(&["transactions", "crosstalk", &run, "--json"]);
    let pair = &crosstalk["pairs"][0];
    assert_eq!(
        (&found["waits"], &found["waitNs"]),
        (&pair["count"], &pair["waitNs"]),
        "{found:#}"
    );
    let checkout = of_type(&found, "GET /checkout");
    // Each wait was on the checkout's own way, so all of it is saved.
    let saved = (mean(checkout, "now") - mean(checkout, "predicted")) * number(&checkout["count"]);
    assert!((saved - number(&found["waitNs"])).abs() < 10.0, "{found:#}");
    let [low, gain, high] = ["gainLow", "gain", "gainHigh"].map(|it| number(&checkout[it]));
    assert!(
        0.0 < low && low <= gain && gain <= high && high < 1.0,
        "{checkout:#}"
    );
    assert_eq!(checkout["cpuNs"], checkout["predictedCpuNs"]);
    let report = of_type(&found, "GET /report");
    assert_eq!(report["now"], report["predicted"]);
    let at_lock = json(&with(&["--at", "cart_lock", "--json"]));
    assert_eq!(found["types"], at_lock["types"]);

    // Without reports, checkouts need not wait for them either.
    let skip = ["--skip", "GET /report", "--in", "till"];
    let found = json(&with(&[&skip[..], &["--json"]].concat()));
    let [report, checkout] = ["GET /report", "GET /checkout"].map(|it| of_type(&found, it));
    assert!(mean(report, "predicted") < mean(report, "now"), "{found:#}");
    assert!(
        mean(checkout, "predicted") < mean(checkout, "now"),
        "{found:#}"
    );

    let text = fulcrum(&with(&PAIR)).output().expect("it runs").stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    for part in [
        " faster (",
        "Predicted without 3 waits of GET /checkout for GET /report, ",
        "Requests arrive when they did",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    check_refusals(&what_if);
}

fn check_refusals(what_if: &[&str]) {
    for (options, why) in [
        (
            &["--waits", "GET /nothing"][..],
            "No type has the name GET /nothing",
        ),
        (
            &["--at", "stock_lock"],
            "No transaction waited at stock_lock",
        ),
        (
            &["--skip", "GET /report", "--in", "tills"],
            "tills did nothing for GET /report",
        ),
    ] {
        check_bad(&[what_if, options].concat(), 1, why);
    }
    for (options, why) in [
        (&["--skip", "GET /report"][..], "--in"),
        (&["--in", "till", "--at", "cart_lock"], "--skip"),
        (
            &["--skip", "GET /report=2", "--in", "till"],
            "a share is a number from 0 to 1",
        ),
        (&[], "--skip"),
    ] {
        let wrong = fulcrum(&[what_if, options].concat()).output();
        let wrong = wrong.expect("it runs");
        let errors = String::from_utf8_lossy(&wrong.stderr);
        assert_eq!(wrong.status.code(), Some(2), "{options:?}: {errors}");
        assert!(errors.contains(why), "{options:?}: {errors}");
    }
}

fn of_type<'a>(found: &'a Value, name: &str) -> &'a Value {
    let types = found["types"].as_array().expect("types");
    let it = types.iter().find(|it| it["name"] == name);
    it.unwrap_or_else(|| panic!("{name}: {found:#}"))
}

fn mean(of: &Value, when: &str) -> f64 {
    number(&of[when]["mean"]["ns"])
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
