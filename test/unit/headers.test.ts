import { describe, expect, test } from "vitest";
import { foldersOfCommands, includeFolders, withIncludeFolder } from "../../extension/core/causal/headers";

test("include folders of a command line", () => {
  const words = ["g++", "-Iinclude", "-I", "../x", "-isystem", "/usr/include/a", "-iquotesrc", "-DI", "-I"];
  expect(includeFolders(words, "/p/build")).toEqual(["/p/build/include", "/p/x", "/usr/include/a", "/p/build/src"]);
});

test("include folders of a file in compile_commands.json", () => {
  const text = JSON.stringify([
    { directory: "/p/build", file: "/p/other.cpp", command: "c++ -Ia other.cpp" },
    { directory: "/p/build", file: "../main.cpp", command: "c++ -I'../my include' -c ../main.cpp" },
    { directory: "/p", file: "b.c", arguments: ["cc", "-Ib", "b.c"] },
  ]);
  expect(foldersOfCommands(text, "/p/main.cpp")).toEqual(["/p/my include"]);
  expect(foldersOfCommands(text, "/p/b.c")).toEqual(["/p/b"]);
  expect(foldersOfCommands(text, "/p/unknown.c")).toEqual([]);
  expect(foldersOfCommands("", "/p/b.c")).toEqual([]);
});

describe("adding an include folder to a build file", () => {
  const folder = ".fulcrum/include";
  const added = `include_directories("\${CMAKE_CURRENT_SOURCE_DIR}/.fulcrum/include")`;

  test("CMake: after the project, before any target", () => {
    const text = "cmake_minimum_required(VERSION 3.16)\nproject(shop CXX) # here\nadd_executable(shop main.cpp)\n";
    expect(withIncludeFolder("CMakeLists.txt", text, folder, "cpp")).toBe(
      text.replace("# here\n", `# here\n${added}\n`),
    );
    expect(withIncludeFolder("CMakeLists.txt", "project(a)", folder, "cpp")).toBe(`project(a)\n${added}\n`);
    expect(withIncludeFolder("CMakeLists.txt", "# project(a)\nadd_executable(x y.c)\n", folder, "c")).toBeUndefined();
  });

  test("a makefile: the variable that its rules use, after its last assignment", () => {
    const text = "CFLAGS = -O2 \\\n  -Wall\napp: a.c\n\tcc $(CFLAGS) -o $@ $<\n";
    expect(withIncludeFolder("Makefile", text, folder, "c")).toBe(
      "CFLAGS = -O2 \\\n  -Wall\nCFLAGS += -I.fulcrum/include\napp: a.c\n\tcc $(CFLAGS) -o $@ $<\n",
    );
    expect(withIncludeFolder("Makefile", "app: a.o\n", folder, "c")).toBe("CPPFLAGS += -I.fulcrum/include\napp: a.o\n");
    expect(withIncludeFolder("Makefile", `app:\n\tc++ \${CXXFLAGS} a.cpp\n`, folder, "cpp")).toContain(
      "CXXFLAGS += -I",
    );
  });

  test("compile_flags.txt and build.rs", () => {
    expect(withIncludeFolder("compile_flags.txt", "-Wall", folder, "c")).toBe("-Wall\n-I.fulcrum/include\n");
    expect(withIncludeFolder("build.rs", 'cc::Build::new().file("a.c")', folder, "c")).toBe(
      'cc::Build::new().include(".fulcrum/include").file("a.c")',
    );
    expect(withIncludeFolder("build.rs", "fn main() {}", folder, "c")).toBeUndefined();
  });
});
