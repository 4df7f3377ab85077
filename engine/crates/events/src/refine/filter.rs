//! Methods as the text of a filter.

use std::collections::BTreeSet;

use super::MethodName;

/// The filter that observes these methods and no others. What `before` says besides methods stays as it is; the comment's
/// lines stand at the beginning.
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
    // Without a method to include, all would be observed.
    text + "excludemethod * *\n"
}

/// Names may hold spaces and number signs, which a filter cannot say.
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
