//! Adds methods whose values are logged to a filter, by name.

use crate::filter::Filter;

/// [`Filter::standard`] as text.
const STANDARD: &str = "observe_method_invocations\nobserve_monitor_contention\nobserve_garbage_collection\n\
                        observe_class_loading\n";

/// The filter that observes what `text` does (or, if it is `None`, what is observed without a filter), and logs the values of the given
/// methods, `CLASS.METHOD` or `METHOD`, with `*` for any text.
///
/// # Errors
/// For a name that filters cannot express, in a sentence.
pub fn with_values(text: Option<&str>, chosen: &[String]) -> Result<String, String> {
    let mut all = text.unwrap_or(STANDARD).trim_end().to_owned() + "\n";
    for name in chosen {
        // Split at the last dot, because classes have packages. C++ uses ::.
        let (class, method) = match (name.rsplit_once('.'), name.rsplit_once("::")) {
            (Some(found), _) | (None, Some(found)) => found,
            (None, None) => ("*", name.as_str()),
        };
        let unsayable = |part: &str| {
            part.is_empty() || part.contains(|it: char| it.is_whitespace() || it == '#')
        };
        if unsayable(class) || unsayable(method) {
            return Err(format!(
                "{name:?} is not a method: expected CLASS.METHOD, in which * stands for anything"
            ));
        }
        all += &format!("observe_values {class} {method}\n");
    }
    Filter::parse(&all).map_err(|error| error.to_string())?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_observed_stays() {
        assert_eq!(Filter::parse(STANDARD), Ok(Filter::standard()));
        let chosen = ["shop.Cart.add*", "ns::Type::f", "main"].map(String::from);
        let text = with_values(None, &chosen).unwrap();
        let filter = Filter::parse(&text).unwrap();
        assert!(filter.selects("a.B", "c", "()V") && filter.classes);
        for (class, method, logged) in [
            ("shop.Cart", "addAll", true),
            ("shop.Cart", "get", false),
            ("ns::Type", "f", true),
            ("program", "main", true),
        ] {
            assert_eq!(filter.logs_values(class, method, ""), logged, "{class}");
        }
        let narrow = with_values(
            Some("observe_method_invocations\nincludemethod a.B *"),
            &chosen,
        );
        let narrow = Filter::parse(&narrow.unwrap()).unwrap();
        assert!(narrow.selects("a.B", "c", "()V") && !narrow.selects("main", "main", ""));
        assert_eq!(narrow.values.len(), 3);
    }

    #[test]
    fn what_is_no_method_is_refused() {
        for name in ["", "a.", ".b", "a b.c", "a.b # c"] {
            assert!(with_values(None, &[name.to_owned()]).is_err(), "{name}");
        }
        assert!(with_values(Some("observe"), &[]).is_err());
    }
}
