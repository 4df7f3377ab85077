import path from "node:path";
import { describe, expect, test } from "vitest";
import {
  cargoTargets,
  dependsOn,
  isCargoPackage,
  isCargoWorkspace,
  withPathDependency,
} from "../../extension/core/programs/cargo";
import { cmakePrograms, isCMakeProject } from "../../extension/core/programs/cmake";
import { elfFacts, type Read } from "../../extension/core/programs/elf";
import { isIgnored, isSearched, mayBeProgram, parseIgnore } from "../../extension/core/programs/ignore";
import { launchCandidates, parseJsonc, taskCandidates } from "../../extension/core/programs/launch";
import { makePrograms } from "../../extension/core/programs/make";
import {
  type BuildTarget,
  cacheValue,
  cargoCommands,
  cmakeCommands,
  makeCommands,
  makeVariable,
} from "../../extension/core/programs/targets";

describe("which folders .gitignore ignores", () => {
  const table: [rules: string, folder: string, ignored: boolean][] = [
    ["build/", "build", true],
    ["build/", "a/build", true],
    ["/build", "a/build", false],
    ["/build", "build", true],
    ["a/b", "a/b", true],
    ["a/b", "x/a/b", false],
    ["*.tmp", "x/y.tmp", true],
    ["**/logs", "a/b/logs", true],
    ["logs/**", "logs/a", true],
    ["cmake-build-*", "cmake-build-debug", true],
    ["v?n[dx]or", "vandor", true],
    ["v?n[xy]or", "vendor", false],
    ["v?nd[oa]r", "vendor", true],
    ["out\n!out", "out", false],
    ["# out", "out", false],
    ["\\#out", "#out", true],
    ["a.b", "aXb", false],
    ["out   ", "out", true],
    ["OUT", "out", false],
    ["out\r\nbin\r\n", "bin", true],
  ];
  const parsed = (files: Record<string, string>) =>
    Object.entries(files).flatMap(([base, text]) => parseIgnore(base, text) ?? []);
  test.each(table)("%j of %s: %s", (rules, folder, ignored) => {
    expect(isIgnored(parsed({ "/p": rules }), () => folder)).toBe(ignored);
  });

  test("the file next to a folder outranks those around it", () => {
    const files = parsed({ "/p": "out\nlogs/", "/p/a": "!out\n\n# nothing about logs\n", "/p/a/b": "# nothing\n" });
    expect(files.map(({ base }) => base)).toEqual(["/p", "/p/a"]);
    const ignored = (folder: string) => isIgnored(files, (base) => path.posix.relative(base, folder));
    expect(["/p/a/out", "/p/a/logs", "/p/a/b"].map(ignored)).toEqual([false, true, false]);
  });
});

describe("which folders are searched for programs", () => {
  const table: [folder: string, ignored: boolean, searched: boolean][] = [
    ["tools", false, true],
    ["tools", true, false],
    // What git ignores is often the build output.
    ["build", true, true],
    ["build/src", true, true],
    ["cmake-build-debug", true, true],
    ["node_modules", false, false],
    ["a/node_modules", false, false],
    ["build/CMakeFiles", true, false],
    ["target/release", true, true],
    ["target/release/examples", true, true],
    ["target/release/deps", true, false],
    ["target/release/build", true, false],
    ["target/x86_64-unknown-linux-musl/release", true, true],
    ["build/deps", true, true],
  ];
  test.each(table)("%s, ignored: %s", (folder, ignored, searched) => {
    expect(isSearched(folder, ignored)).toBe(searched);
  });

  test("files that are not programs are recognised by their names", () => {
    const names = [
      "server",
      "a.out",
      "app.exe",
      "tool-1.2",
      "main.o",
      "lib.so",
      "main.cpp",
      ".bashrc",
      "Makefile",
      "x.sh",
    ];
    expect(names.filter(mayBeProgram)).toEqual(["server", "a.out", "app.exe", "tool-1.2"]);
  });
});

describe("ELF files", () => {
  const node = process.execPath;

  /** A small file with one segment and two sections. */
  function elf({ type = 3, segment = 3, section = ".debug_info" } = {}): Uint8Array {
    const names = new TextEncoder().encode(`\0${section}\0`);
    const bytes = new Uint8Array(400);
    const view = new DataView(bytes.buffer);
    bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
    view.setUint16(16, type, true);
    view.setBigUint64(32, 64n, true);
    view.setBigUint64(40, 120n, true);
    view.setUint16(54, 56, true);
    view.setUint16(56, 1, true);
    view.setUint16(58, 64, true);
    view.setUint16(60, 2, true);
    view.setUint16(62, 1, true);
    view.setUint32(64, segment, true);
    view.setUint32(120, 1, true);
    view.setBigUint64(120 + 64 + 24, 300n, true);
    view.setBigUint64(120 + 64 + 32, BigInt(names.length), true);
    bytes.set(names, 300);
    return bytes;
  }

  const reader =
    (bytes: Uint8Array): Read =>
    async (offset, length) =>
      bytes.subarray(offset, offset + length);

  test("programs with and without debug information, libraries, objects, and other files", async () => {
    expect(await elfFacts(reader(elf()))).toEqual({ isProgram: true, hasDebugInfo: true });
    expect(await elfFacts(reader(elf({ section: ".zdebug_info" })))).toEqual({ isProgram: true, hasDebugInfo: true });
    expect(await elfFacts(reader(elf({ section: ".text" })))).toEqual({ isProgram: true, hasDebugInfo: false });
    expect(await elfFacts(reader(elf({ segment: 1 })))).toEqual({ isProgram: false, hasDebugInfo: false });
    expect(await elfFacts(reader(elf({ type: 1 })))).toEqual({ isProgram: false, hasDebugInfo: false });
    expect(await elfFacts(reader(new TextEncoder().encode("#!/bin/sh\n".padEnd(80))))).toBeUndefined();
    expect(await elfFacts(reader(new Uint8Array()))).toBeUndefined();
  });

  test("a damaged file is not a program, however it is cut or changed", async () => {
    const whole = elf();
    for (let length = 0; length < whole.length; length += 1) {
      await elfFacts(reader(whole.subarray(0, length)));
    }
    for (let at = 7; at < whole.length; at += 1) {
      const changed = whole.slice();
      changed[at] = 0xff;
      const facts = await elfFacts(reader(changed));
      expect(facts === undefined || typeof facts.isProgram === "boolean").toBe(true);
    }
  });

  test("a real program", async () => {
    const { open } = await import("node:fs/promises");
    const handle = await open(node);
    try {
      const read: Read = async (offset, length) => {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      };
      expect((await elfFacts(read))?.isProgram).toBe(true);
    } finally {
      await handle.close();
    }
  });
});

describe("CMake", () => {
  const lists = `
cmake_minimum_required(VERSION 3.16)
project(shop CXX) # add_executable(no)
set(NAME "cart")
#[[ add_executable(neither x.cpp) ]]
ADD_EXECUTABLE(\${PROJECT_NAME}
  main.cpp) # the server
add_executable(\${NAME}_test test.cpp)
add_executable(\${UNKNOWN} a.cpp)
add_executable(tool::alias ALIAS shop)
add_executable(other IMPORTED)
add_library(core core.cpp)
`;

  test("finds the programs in a file", () => {
    expect(cmakePrograms(lists)).toEqual(["shop", "cart_test"]);
    expect(isCMakeProject(lists)).toBe(true);
    expect(isCMakeProject("add_subdirectory(src)")).toBe(false);
  });

  const target: BuildTarget = { kind: "cmake", folder: "/p", name: "shop" };
  const cache = (type: string, flags = "") =>
    `CMAKE_BUILD_TYPE:STRING=${type}\nCMAKE_CXX_FLAGS:STRING=${flags}\nCMAKE_HOME_DIRECTORY:INTERNAL=/p\n`;

  test("a first build has debug information and optimisation", () => {
    expect(cmakeCommands(target, [])).toEqual({
      commands: [
        "cmake -S /p -B /p/build -DCMAKE_BUILD_TYPE=RelWithDebInfo",
        "cmake --build /p/build --target shop --parallel",
      ],
      folder: "/p/build",
    });
  });

  test("a build folder that has both is used; others are left alone", () => {
    const at = (text: string) => cmakeCommands(target, [{ folder: "/p/out", cache: text }]).folder;
    expect(at(cache("RelWithDebInfo"))).toBe("/p/out");
    expect(at(cache("Release", "-Wall -g"))).toBe("/p/out");
    expect(at(cache("Release", "-gsplit"))).toBe("/p/.fulcrum/build");
    expect(at(cache("Debug"))).toBe("/p/.fulcrum/build");
    expect(at(cache(""))).toBe("/p/.fulcrum/build");
    expect(cacheValue(cache("Debug"), "CMAKE_HOME_DIRECTORY")).toBe("/p");
  });
});

describe("cargo", () => {
  const manifest = `[package]
name = "shop" # the server
edition = '2021'

[[bin]]
name = "import"
path = "tools/import.rs"

[dependencies]
serde = { version = "1" }

[dependencies.tokio]
version = "1"

[profile.release]
debug = true
`;

  test("declared programs and those found by convention", () => {
    const files = ["src/main.rs", "src/lib.rs", "src/bin/admin.rs", "src/bin/report/main.rs", "examples/load.rs"];
    expect(cargoTargets(manifest, files)).toEqual([
      { name: "import", example: false },
      { name: "shop", example: false },
      { name: "admin", example: false },
      { name: "report", example: false },
      { name: "load", example: true },
    ]);
    expect(cargoTargets('[workspace]\nmembers = ["a"]\n', files)).toEqual([]);
    expect(cargoTargets('[package]\nname = "a"\nautobins = false\n', ["src/main.rs"])).toEqual([]);
  });

  test("a release build gets its line numbers", () => {
    const build: BuildTarget = { kind: "cargo", folder: "/p", name: "shop", example: false };
    expect(cargoCommands(build, "/p/target")).toEqual({
      commands: ["CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --bin shop"],
      folder: "/p/target/release",
      program: "/p/target/release/shop",
    });
    expect(cargoCommands({ ...build, example: true }, "/t").program).toBe("/t/release/examples/shop");
  });

  test("packages and workspaces", () => {
    expect([isCargoPackage(manifest), isCargoWorkspace(manifest)]).toEqual([true, false]);
    expect([isCargoPackage("[workspace]\n"), isCargoWorkspace("[workspace]\n")]).toEqual([false, true]);
  });

  test("a dependency is added once, at the end of its section, and nothing else changes", () => {
    const line = 'fulcrum-progress = { path = "../fulcrum-progress" }';
    const added = withPathDependency(manifest, "fulcrum-progress", "../fulcrum-progress");
    expect(added).toBe(manifest.replace('"1" }\n', `"1" }\n${line}\n`));
    expect([dependsOn(manifest, "fulcrum-progress"), dependsOn(added, "fulcrum-progress")]).toEqual([false, true]);
    expect(dependsOn(manifest, "tokio")).toBe(true);
    expect(dependsOn("[workspace.dependencies]\nx = 1\n[dependencies]\ny.workspace = true\n", "y")).toBe(true);
  });

  test("a manifest without dependencies gets the section", () => {
    const line = 'c = { path = "c" }';
    expect(withPathDependency('[package]\nname = "a"', "c", "c")).toBe(
      `[package]\nname = "a"\n\n[dependencies]\n${line}\n`,
    );
    expect(withPathDependency('[package]\r\nname = "a"\r\n\r\n[dependencies]\r\n', "c", "c")).toBe(
      `[package]\r\nname = "a"\r\n\r\n[dependencies]\r\n${line}\r\n`,
    );
    expect(withPathDependency("[dependencies] # all\n\n[features]\n", "c", "c")).toBe(
      `[dependencies] # all\n${line}\n\n[features]\n`,
    );
  });
});

describe("make", () => {
  const makefile = `CC = gcc
CFLAGS = -O2 \\
  -Wall
TARGET := server
OBJS = main.o net.o
SRCS = main.c
all: $(TARGET) tool
$(TARGET): $(OBJS)
\t$(CC) $(CFLAGS) -o $@ $^
tool: tool.c
%.o: %.c
\t$(CC) -c $<
main.o: main.h
libx.a: main.o
\tar rcs $@ $^
bench: server ; $(CC) -o bench bench.c
deploy:
\tscp server host:
clean:
\trm -f *.o
.PHONY: all clean deploy
`;

  test("finds the targets that link a program", () => {
    expect(makePrograms(makefile)).toEqual(["server", "tool", "bench"]);
    expect(makePrograms("# CMAKE generated file: DO NOT EDIT!\nserver:\n\t$(MAKE) -o x\n")).toEqual([]);
    expect(makePrograms("BIN = a\nPROG = $(BIN)\nLOOP = $(LOOP)\n$(PROG): x.c\n$(LOOP): y.c\n")).toEqual(["a"]);
  });

  const target: BuildTarget = { kind: "make", folder: "/p", name: "server" };

  test("a makefile without -g is built with its own flags and -g", () => {
    expect(makeVariable(makefile, "CFLAGS")).toBe("-O2 -Wall");
    expect(makeCommands(target, makefile).commands).toEqual(["make -B server CFLAGS='-O2 -Wall -g' CXXFLAGS='-O2 -g'"]);
    expect(makeCommands(target, "CFLAGS = -O2 -g\n").commands).toEqual(["make server"]);
    expect(makeCommands(target, "CFLAGS = $(OPT)\nCFLAGS += -ggdb3\n").commands).toEqual(["make server"]);
    expect(makeVariable("X = a\nX += b # c\n", "X")).toBe("a b");
    expect(makeCommands(target, makefile).program).toBe("/p/server");
  });
});

describe("programs from the editor's configuration", () => {
  test("comments and trailing commas are accepted", () => {
    expect(parseJsonc('\uFEFF{ // a\n "a": "x // no, }", /* b */ "b": [1, 2,],\n}')).toEqual({
      a: "x // no, }",
      b: [1, 2],
    });
    expect(parseJsonc("{")).toBeUndefined();
  });

  test("launch.json", () => {
    const text = JSON.stringify({
      configurations: [
        {
          ...{ name: "Serve", type: "cppdbg", request: "launch", program: `\${workspaceFolder}/build/serve` },
          ...{ args: ["--port", "80"], cwd: `\${workspaceFolder}/data`, preLaunchTask: "build" },
        },
        { name: "Attach", type: "cppdbg", request: "attach", program: "/bin/x" },
        { name: "CMake", type: "cppdbg", request: "launch", program: `\${command:cmake.launchTargetPath}` },
        { name: "Node", type: "node", request: "launch", program: "main.js" },
        { name: "Ask", type: "lldb", request: "launch", program: "a", args: [`\${input:x}`] },
        { type: "lldb", request: "launch", program: "bin/a" },
      ],
    });
    expect(launchCandidates(text, "/p")).toEqual([
      {
        ...{ label: "Serve", program: "/p/build/serve", from: "launch.json", args: ["--port", "80"], cwd: "/p/data" },
        build: { kind: "task", folder: "/p", name: "build", program: "/p/build/serve" },
      },
      { label: "a", program: "/p/bin/a", from: "launch.json", args: [] },
    ]);
    expect(launchCandidates("[]", "/p")).toEqual([]);
  });

  test("tasks that start a program of the workspace", () => {
    const text = JSON.stringify({
      tasks: [
        { label: "run", type: "shell", command: "./build/app --n '1 2'", dependsOn: ["build"] },
        {
          label: "more",
          type: "process",
          command: `\${workspaceFolder}/bin/x`,
          args: ["a b"],
          options: { cwd: "bin" },
        },
        { label: "build", type: "shell", command: "make" },
        { label: "pipe", type: "shell", command: "./a | tee log" },
        { label: "away", type: "process", command: "/usr/bin/env" },
        { label: "npm", type: "npm", script: "x" },
        { label: "odd", type: "shell", command: "./a 'b" },
      ],
    });
    expect(taskCandidates(text, "/p")).toEqual([
      {
        ...{ label: "run", program: "/p/build/app", from: "tasks.json", args: ["--n", "1 2"], cwd: "/p" },
        build: { kind: "task", folder: "/p", name: "build", program: "/p/build/app" },
      },
      { label: "more", program: "/p/bin/x", from: "tasks.json", args: ["a b"], cwd: "/p/bin" },
    ]);
  });
});
