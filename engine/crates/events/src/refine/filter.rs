//! Writes methods as the text of a filter.

use std::collections::BTreeSet;

use super::MethodName;

/// The filter that observes exactly these methods. Everything else in `before` stays the same. The lines of the comment come first.
pub fn filter_text(before: &str, methods: &BTreeSet<MethodName>, comment: &[String]) -> String {
    let mut text = String::new();
    for line in comment {
        text += &format!("# {line}\n");
    }
    text += "observe_method_invocations\n";
    for line in before.lines() {
        let directive = line.split('#').next().unwrap_or("").trim();
        let word = directive.split_whitespace().next().unwrap_or("");
        let about_methods = [
            "observe_method_invocations",
            "includemethod",
            "excludemethod",
        ];
        if !word.is_empty() && !about_methods.contains(&word) {
            text += &format!("{directive}\n");
        }
    }
    for it in methods {
        let rule = format!(
            "includemethod {} {} {}",
            pattern(&it.class),
            pattern(&it.name),
            pattern(&it.descriptor)
        );
        text += &format!("{}\n", rule.trim_end());
    }
    // Without any included method, all would be observed.
    text + "excludemethod * *\n"
}

/// Names may contain spaces and number signs, which filters cannot express.
fn pattern(name: &str) -> String {
    name.replace(|c: char| c.is_whitespace() || c == '#', "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rule_for_methods_stays() {
        let methods = [
            ("shop.Cart", "add", "(I)V"),
            ("shop.Cart", "adds two #1", ""),
        ];
        let methods = methods.map(|(class, name, descriptor)| MethodName {
            class: class.into(),
            name: name.into(),
            descriptor: descriptor.into(),
        });
        let before = "# old\nobserve_method_invocations\n observe_monitor_contention # yes\nincludemethod a b\n\
                      observe_object_allocation shop.*\nexcludemethod * *\n";
        let text = filter_text(before, &methods.into(), &["Iteration 2.".into()]);
        let expect = "# Iteration 2.\nobserve_method_invocations\nobserve_monitor_contention\n\
                      observe_object_allocation shop.*\nincludemethod shop.Cart add (I)V\n\
                      includemethod shop.Cart adds*two**1\nexcludemethod * *\n";
        assert_eq!(text, expect);
        let none = filter_text("", &BTreeSet::new(), &[]);
        assert_eq!(none, "observe_method_invocations\nexcludemethod * *\n");
    }
}
