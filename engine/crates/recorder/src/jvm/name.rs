//! Names runs: `java` would name every Java program alike.

use std::ffi::OsStr;
use std::path::Path;

/// Options of `java` whose value is an argument of its own.
const WITH_VALUE: [&str; 13] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--enable-native-access",
];

/// The name of a program; for `java`, the main class, or the archive or source file without its extension.
pub(crate) fn name_of(program: &OsStr, args: &[impl AsRef<OsStr>]) -> String {
    let file = Path::new(program).file_name().unwrap_or(program);
    let main = (file == "java").then(|| main_of(args)).flatten();
    main.unwrap_or_else(|| file.to_string_lossy().into_owned())
}

/// The main class or file. `None` when the arguments do not contain it, because it is in a file of arguments or missing.
fn main_of(args: &[impl AsRef<OsStr>]) -> Option<String> {
    let mut args = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    while let Some(arg) = args.next() {
        match &*arg {
            "-jar" => return stem(&args.next()?),
            "-m" | "--module" => {
                let module = args.next()?;
                let class = module.rsplit_once('/').map_or(&*module, |(_, class)| class);
                return Some(class.to_owned());
            }
            option if WITH_VALUE.contains(&option) => _ = args.next(),
            option if option.starts_with('-') => {}
            file if file.starts_with('@') => return None,
            file if file.ends_with(".java") => return stem(file),
            class => return Some(class.replace('/', ".")),
        }
    }
    None
}

fn stem(file: &str) -> Option<String> {
    let stem = Path::new(file).file_stem()?;
    Some(stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_programs_are_named_by_what_they_run() {
        for (command, expect) in [
            ("./server --port 80", "server"),
            (
                "java -cp build dispatcher.Main --requests 60",
                "dispatcher.Main",
            ),
            (
                "/usr/bin/java -Xmx1g -classpath a:b -ea shop/Main x",
                "shop.Main",
            ),
            ("java -jar target/shop-1.2.jar -cp x", "shop-1.2"),
            (
                "java --module-path mods --module shop/shop.Main",
                "shop.Main",
            ),
            ("java -p mods -m shop", "shop"),
            (
                "java --add-opens=java.base/java.lang=ALL-UNNAMED --add-modules a B",
                "B",
            ),
            ("java src/Hello.java World", "Hello"),
            ("java @options Main", "java"),
            ("java -version", "java"),
            ("java -jar", "java"),
        ] {
            let words: Vec<_> = command.split(' ').collect();
            assert_eq!(name_of(words[0].as_ref(), &words[1..]), expect, "{command}");
        }
    }
}
