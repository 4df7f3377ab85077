//! Tables: a text with the cursor at `│`, and what it becomes.

use expect_test::{Expect, expect};
use fulcrum_source::{Language, ProgressPointKind, SourceFile, apply};

fn edited(language: Language, marked: &str, kind: ProgressPointKind) -> String {
    let at = marked.find('│').expect("the case marks the cursor");
    let text = marked.replacen('│', "", 1);
    match SourceFile::parse(text.as_str().into(), language).progress_point(at, kind) {
        Ok(edits) => apply(&text, &edits),
        Err(refused) => format!("refused: {refused}\n"),
    }
}

/// The body of a function that includes the header already.
fn check(kind: ProgressPointKind, body: &str, expect: Expect) {
    let text = format!("#include \"fulcrum.h\"\nvoid f() {{\n{body}}}\n");
    let now = edited(Language::Cpp, &text, kind);
    // From the function on: its unindented lines keep the snapshot's indentation.
    let function = now.strip_prefix("#include \"fulcrum.h\"\n").unwrap_or(&now);
    expect.assert_eq(function);
}

fn progress(body: &str, expect: Expect) {
    check(ProgressPointKind::Throughput, body, expect);
}

#[test]
fn the_end_of_the_innermost_loop() {
    progress(
        "  for (int i = 0; i < n; i++) {│\n    work(i);\n  }\n",
        expect![[r#"
            void f() {
              for (int i = 0; i < n; i++) {
                work(i);
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "│  while (true) {\n    a();\n    for (auto x : xs) {\n      b(x);\n    }\n    // done\n  }\n",
        expect![[r#"
            void f() {
              while (true) {
                a();
                for (auto x : xs) {
                  b(x);
                }
                // done
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  while (true) {\n    for (auto x : xs) {\n      b(x);│\n    }\n  }\n",
        expect![[r#"
            void f() {
              while (true) {
                for (auto x : xs) {
                  b(x);
                  FULCRUM_PROGRESS;
                }
              }
            }
        "#]],
    );
    progress(
        "  do {\n    a();\n  } while (│more());\n",
        expect![[r#"
            void f() {
              do {
                a();
                FULCRUM_PROGRESS;
              } while (more());
            }
        "#]],
    );
}

#[test]
fn tabs_and_odd_indentation_are_kept() {
    progress(
        "\tfor (;;) {\n\t\ta();│\n\t}\n",
        expect![[r#"
            void f() {
            	for (;;) {
            		a();
            		FULCRUM_PROGRESS;
            	}
            }
        "#]],
    );
    progress(
        "   for (;;)\n   {\n      a();│\n   }\n",
        expect![[r#"
            void f() {
               for (;;)
               {
                  a();
                  FULCRUM_PROGRESS;
               }
            }
        "#]],
    );
    progress(
        "\tfor (;;)│\n\t\ta();\n",
        expect![[r#"
            void f() {
            	for (;;) {
            		a();
            		FULCRUM_PROGRESS;
            	}
            }
        "#]],
    );
}

#[test]
fn a_closing_jump_stays_last() {
    progress(
        "  for (;;) {\n    a();│\n    if (b) break;\n    continue;\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                a();
                if (b) break;
                FULCRUM_PROGRESS;
                continue;
              }
            }
        "#]],
    );
    progress(
        "  a();\n  return│ b();\n",
        expect![[r#"
            void f() {
              a();
              FULCRUM_PROGRESS;
              return b();
            }
        "#]],
    );
}

#[test]
fn a_body_without_braces_gets_them() {
    progress(
        "  for (;;) work();│\n",
        expect![[r#"
            void f() {
              for (;;) {
                work();
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  for (int i = 0; i < n; i++)  // all\n    work(i);│  // one\n  rest();\n",
        expect![[r#"
            void f() {
              for (int i = 0; i < n; i++) {  // all
                work(i);  // one
                FULCRUM_PROGRESS;
              }
              rest();
            }
        "#]],
    );
    progress(
        "  for (;;);│\n",
        expect![[r#"
            void f() {
              for (;;) {
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  while (next())│\n    ;\n",
        expect![[r#"
            void f() {
              while (next()) {
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  do work();│ while (more());\n",
        expect![[r#"
            void f() {
              do {
                work();
                FULCRUM_PROGRESS;
              } while (more());
            }
        "#]],
    );
    progress(
        "  for (auto x : xs)│\n    for (auto y : x)\n      work(y);\n",
        expect![[r#"
            void f() {
              for (auto x : xs) {
                for (auto y : x)
                  work(y);
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  while (x)│\n    if (a)\n      return;\n    else\n      b();\n",
        expect![[r#"
            void f() {
              while (x) {
                if (a)
                  return;
                else
                  b();
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  for (;;) {}│\n",
        expect![[r#"
            void f() {
              for (;;) {
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  for (;;) { a(); │b(); }\n",
        expect![[r#"
            void f() {
              for (;;) { a(); b(); FULCRUM_PROGRESS; }
            }
        "#]],
    );
}

#[test]
fn a_statement_outside_a_loop() {
    progress(
        "  a();│  // first\n  b();\n",
        expect![[r#"
            void f() {
              a();  // first
              FULCRUM_PROGRESS;
              b();
            }
        "#]],
    );
    progress(
        "  call(x,\n       y│);\n  b();\n",
        expect![[r#"
            void f() {
              call(x,
                   y);
              FULCRUM_PROGRESS;
              b();
            }
        "#]],
    );
    progress(
        "  if (a) │b();\n  else if (c) d();\n",
        expect![[r#"
            void f() {
              if (a) {
                b();
                FULCRUM_PROGRESS;
              }
              else if (c) d();
            }
        "#]],
    );
    progress(
        "  if (a)\n    b();\n  else if (c) {│\n    d();\n  }\n  e();\n",
        expect![[r#"
            void f() {
              if (a)
                b();
              else if (c) {
                d();
                FULCRUM_PROGRESS;
              }
              e();
            }
        "#]],
    );
    progress(
        "  a();\n│\n  b();\n",
        expect![[r#"
            void f() {
              a();
              FULCRUM_PROGRESS;

              b();
            }
        "#]],
    );
    progress(
        "  a();│ b();\n",
        expect![[r#"
            void f() {
              a(); FULCRUM_PROGRESS; b();
            }
        "#]],
    );
}

#[test]
fn switches_and_labels() {
    progress(
        "  switch (x) {\n    case 1:\n      a();│\n      break;\n    default: b(); break;\n  }\n",
        expect![[r#"
            void f() {
              switch (x) {
                case 1:
                  a();
                  FULCRUM_PROGRESS;
                  break;
                default: b(); break;
              }
            }
        "#]],
    );
    progress(
        "  switch (x) {\n    case 1:\n      a();\n      break;\n    default: │b(); break;\n  }\n",
        expect![[r#"
            void f() {
              switch (x) {
                case 1:
                  a();
                  break;
                default: b(); FULCRUM_PROGRESS; break;
              }
            }
        "#]],
    );
    progress(
        "  switch (x) {\n    ca│se 1:\n      a();\n  }\n",
        expect![[r#"
            void f() {
              switch (x) {
                case 1:
                  FULCRUM_PROGRESS;
                  a();
              }
            }
        "#]],
    );
    progress(
        "  for (;;) {\n    a();│\nnext:\n    b();\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                a();
            next:
                b();
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    check(
        ProgressPointKind::LatencyBegin,
        "again:\n  a│();\n  if (x) goto again;\n",
        expect![[r#"
            void f() {
            again:
              FULCRUM_BEGIN("f");
              a();
              if (x) goto again;
            }
        "#]],
    );
}

#[test]
fn lambdas_are_functions_unless_they_stand_on_one_line() {
    progress(
        "  std::thread t([&] {\n    for (;;)│ {\n      a();\n    }\n  });\n",
        expect![[r#"
            void f() {
              std::thread t([&] {
                for (;;) {
                  a();
                  FULCRUM_PROGRESS;
                }
              });
            }
        "#]],
    );
    progress(
        "  for (;;) {\n    run([&] {\n      a();│\n    });\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                run([&] {
                  a();
                  FULCRUM_PROGRESS;
                });
              }
            }
        "#]],
    );
    progress(
        "  for (;;) {\n    sort(v, [](int a, int b) { return │a < b; });\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                sort(v, [](int a, int b) { return a < b; });
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
}

#[test]
fn macros_that_loop() {
    progress(
        "  BOOST_FOREACH(int x, xs) {\n    a(x);│\n  }\n",
        expect![[r#"
            void f() {
              BOOST_FOREACH(int x, xs) {
                a(x);
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "  for (;;) {\n    IF_DEBUG(x) {\n      a();│\n    }\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                IF_DEBUG(x) {
                  a();
                }
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
    progress(
        "#define EACH(x) for (int i = 0; i < x; i++)│ { work(i); }\n  a();\n",
        expect![[r#"
            refused: Line 3 is inside a macro definition: put the cursor where the macro is used.
        "#]],
    );
    progress(
        "  int x = ({ int y = 1;│ y; });\n",
        expect![[r#"
            void f() {
              int x = ({ int y = 1; y; });
              FULCRUM_PROGRESS;
            }
        "#]],
    );
    progress(
        "  for (;;) {│\n    a();\n#ifdef DEBUG\n    b();\n#endif\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                a();
            #ifdef DEBUG
                b();
            #endif
                FULCRUM_PROGRESS;
              }
            }
        "#]],
    );
}

#[test]
fn latency_points_stand_around_what_is_measured() {
    check(
        ProgressPointKind::LatencyBegin,
        "  for (;;) {│\n    a();\n    b();\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                FULCRUM_BEGIN("f");
                a();
                b();
              }
            }
        "#]],
    );
    check(
        ProgressPointKind::LatencyEnd,
        "  for (;;) {│\n    FULCRUM_BEGIN(\"request\");\n    a();\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                FULCRUM_BEGIN("request");
                a();
                FULCRUM_END("request");
              }
            }
        "#]],
    );
    check(
        ProgressPointKind::LatencyBegin,
        "  for (;;) {\n    a();\n    b();│\n    c();\n  }\n",
        expect![[r#"
            void f() {
              for (;;) {
                a();
                FULCRUM_BEGIN("f");
                b();
                c();
              }
            }
        "#]],
    );
    check(
        ProgressPointKind::LatencyEnd,
        "  a();\n  if (b)\n    return│ c();\n",
        expect![[r#"
            void f() {
              a();
              if (b) {
                FULCRUM_END("f");
                return c();
              }
            }
        "#]],
    );
    check(
        ProgressPointKind::LatencyBegin,
        "  FULCRUM_BEGIN(\"f\");\n  a();\n  FULCRUM_END(\"f\");\n  b();│\n",
        expect![[r#"
            void f() {
              FULCRUM_BEGIN("f");
              a();
              FULCRUM_END("f");
              FULCRUM_BEGIN("f-2");
              b();
            }
        "#]],
    );
}

fn whole(language: Language, kind: ProgressPointKind, text: &str, expect: Expect) {
    expect.assert_eq(&edited(language, text, kind));
}

#[test]
fn function_headers_and_names() {
    whole(
        Language::Cpp,
        ProgressPointKind::LatencyBegin,
        "#include \"fulcrum.h\"\ntemplate <class T>\nvoid Server<T>::handle(Request r)│ {\n  a();\n}\n",
        expect![[r#"
            #include "fulcrum.h"
            template <class T>
            void Server<T>::handle(Request r) {
              FULCRUM_BEGIN("Server<T>::handle");
              a();
            }
        "#]],
    );
    whole(
        Language::Cpp,
        ProgressPointKind::Throughput,
        "#include \"fulcrum.h\"\nFoo::Foo() : a(1)│ {\n  b();\n}\n",
        expect![[r#"
            #include "fulcrum.h"
            Foo::Foo() : a(1) {
              b();
              FULCRUM_PROGRESS;
            }
        "#]],
    );
    whole(
        Language::C,
        ProgressPointKind::LatencyEnd,
        "#include <fulcrum.h>\nstatic char *next(struct list *l)\n{\n\treturn │l->next;\n}\n",
        expect![[r#"
            #include <fulcrum.h>
            static char *next(struct list *l)
            {
            	FULCRUM_END("next");
            	return l->next;
            }
        "#]],
    );
}

#[test]
fn the_include_comes_once_and_in_its_place() {
    let body = "void f() {\n  a();│\n}\n";
    for (head, expect) in [
        (
            "#include <a>\n\n#include \"b.h\"\n\n",
            "#include <a>\n\n#include \"b.h\"\n#include \"fulcrum.h\"\n\n",
        ),
        ("", "#include \"fulcrum.h\"\n\n"),
        (
            "#pragma once\n\n",
            "#pragma once\n#include \"fulcrum.h\"\n\n",
        ),
        (
            "// Licence.\n// More.\n\n// About f.\n",
            "// Licence.\n// More.\n\n#include \"fulcrum.h\"\n\n// About f.\n",
        ),
        (
            "#define _GNU_SOURCE\n#include <a>\n#ifdef X\n#include <x>\n#endif\nint g;\n#include <late>\n",
            "#define _GNU_SOURCE\n#include <a>\n#ifdef X\n#include <x>\n#endif\n#include \"fulcrum.h\"\nint g;\n#include <late>\n",
        ),
        (
            "#include \"engine/fulcrum.h\"\n",
            "#include \"engine/fulcrum.h\"\n",
        ),
        (
            "#include <a>\r\n",
            "#include <a>\r\n#include \"fulcrum.h\"\r\n",
        ),
    ] {
        let text = format!(
            "{head}{}",
            if head.contains('\r') {
                body.replace('\n', "\r\n")
            } else {
                body.into()
            }
        );
        let now = edited(Language::Cpp, &text, ProgressPointKind::Throughput);
        let newline = if head.contains('\r') { "\r\n" } else { "\n" };
        let rest =
            format!("void f() {{{newline}  a();{newline}  FULCRUM_PROGRESS;{newline}}}{newline}");
        assert_eq!(now, format!("{expect}{rest}"), "{head:?}");
    }
    // Inside the guard, not before it; without a line break at the end of the file.
    whole(
        Language::Cpp,
        ProgressPointKind::Throughput,
        "// f\n#ifndef F_H\n#define F_H\ninline void f() {\n  a();│\n}\n#endif",
        expect![[r#"
            // f
            #ifndef F_H
            #define F_H
            #include "fulcrum.h"
            inline void f() {
              a();
              FULCRUM_PROGRESS;
            }
            #endif"#]],
    );
}

#[test]
fn a_file_that_uses_coz_stays_with_coz() {
    whole(
        Language::C,
        ProgressPointKind::Throughput,
        "#include <coz.h>\nvoid f() {\n  for (;;) a();│\n}\n",
        expect![[r#"
            #include <coz.h>
            void f() {
              for (;;) {
                a();
                COZ_PROGRESS;
              }
            }
        "#]],
    );
}

#[test]
fn removing_leaves_what_was_there_before() {
    for (text, expect) in [
        (
            "#include <a>\n#include \"fulcrum.h\"\nvoid f() {\n  a();\n  FULCRUM│_PROGRESS;\n}\n",
            "#include <a>\nvoid f() {\n  a();\n}\n",
        ),
        (
            "#include \"fulcrum.h\"\nvoid f() {\n  FULCRUM_BEGIN(\"x\");│\n  a();\n  FULCRUM_END(\"x\");\n}\n",
            "#include \"fulcrum.h\"\nvoid f() {\n  a();\n  FULCRUM_END(\"x\");\n}\n",
        ),
        (
            "#include <coz.h>\nvoid f() {\n  for (;;) │COZ_PROGRESS;\n  a();\n}\n",
            "#include <coz.h>\nvoid f() {\n  for (;;) ;\n  a();\n}\n",
        ),
        (
            "#include \"fulcrum.h\"\n\nvoid f() {│ a(); FULCRUM_PROGRESS_NAMED(\"x\"); b(); }\n",
            "void f() { a(); b(); }\n",
        ),
        (
            "void f() {\n  a();│\n}\n",
            "refused: There is no progress point on line 2: put the cursor on a line with a FULCRUM_ or COZ_ macro.\n",
        ),
        (
            "void f() {\n  a();  // FULCRUM_PROGRESS;│\n}\n",
            "refused: There is no progress point on line 2: put the cursor on a line with a FULCRUM_ or COZ_ macro.\n",
        ),
    ] {
        assert_eq!(
            edited(Language::Cpp, text, ProgressPointKind::Remove),
            expect,
            "{text:?}"
        );
    }
}

#[test]
fn refusals_say_what_to_do_instead() {
    for (text, sentence) in [
        (
            "int x;│\n",
            "refused: Line 1 is not inside a function with a body: put the cursor on the loop or statement to measure.\n",
        ),
        (
            "void f();│\n",
            "refused: Line 1 is not inside a function with a body: put the cursor on the loop or statement to measure.\n",
        ),
        (
            "struct S {\n  S() = default;│\n};\n",
            "refused: Line 2 is not inside a function with a body: put the cursor on the loop or statement to measure.\n",
        ),
        (
            "constexpr int f() {\n  return │1;\n}\n",
            "refused: Line 2 is in a constexpr function, which cannot hold a progress point: put it where the function is called.\n",
        ),
        (
            "│",
            "refused: Line 1 is not inside a function with a body: put the cursor on the loop or statement to measure.\n",
        ),
        (
            "void f() {\n  switch (x) {\n    case 1:│\n    case 2: a();\n  }\n}\n",
            "refused: The case on line 3 has no statement of its own: put the cursor on a statement.\n",
        ),
        (
            "void f() {\n  for (;;)\n#pragma omp simd\n    a();\n  for (;;│\n}\n",
            "refused: The code around line 5 could not be parsed: write the macro by hand, or move the cursor to a simpler statement.\n",
        ),
    ] {
        assert_eq!(
            edited(Language::Cpp, text, ProgressPointKind::Throughput),
            sentence,
            "{text:?}"
        );
    }
}
