/** Java programs built by Maven and Gradle: which are offered, how they are built, and how they are started. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type JavaTarget, javaCommands, javaName, javaTargets } from "../../extension/core/programs/java";
import { shownCommand } from "../../extension/core/trace/runs";
import { lastWritten } from "../../extension/features/run/programOutput";
import { findPrograms } from "../../extension/features/run/programs";

const main = (packageName: string) =>
  `/* Starts it. */\npackage ${packageName};\n\npublic class Any {\n  public static void main(String[] args) {}\n}\n`;
const pom = (inside = "") => `<project><artifactId>shop</artifactId>${inside}</project>`;
const project = (file: string, text: string, hasWrapper = false) => ({ file, text, hasWrapper });

describe("which programs are offered", () => {
  test("each class with a main method, first the one that the build file names; no tests", () => {
    const targets = javaTargets(
      [project("/w/pom.xml", pom("<mainClass>shop.web.Server</mainClass><dependencies></dependencies>"))],
      [
        { file: "/w/src/main/java/shop/Admin.java", text: main("shop") },
        { file: "/w/src/main/java/shop/Cart.java", text: "package shop;\nclass Cart { void main() {} }" },
        { file: "/w/src/main/java/shop/web/Server.java", text: main("shop.web") },
        { file: "/w/src/main/java/Bare.java", text: main("x").replace("package x;", "") },
        { file: "/w/src/test/java/shop/Trial.java", text: main("shop") },
        { file: "/elsewhere/src/main/java/shop/Other.java", text: main("shop") },
      ],
    );
    expect(targets.map(({ mainClass }) => mainClass)).toEqual(["shop.web.Server", "Bare", "shop.Admin"]);
    expect(targets.map(javaName)).toEqual(["Server", "Bare", "Admin"]);
    expect(targets[0]).toEqual({
      ...{ kind: "maven", folder: "/w", top: "/w", mainClass: "shop.web.Server" },
      ...{ hasWrapper: false, hasLibraries: true },
    });
  });

  test.each([
    ["<start-class>a.B</start-class>", "pom.xml"],
    ["<exec.mainClass> a.B </exec.mainClass>", "pom.xml"],
    ["application { mainClass = 'a.B' }", "build.gradle"],
    ['application { mainClass.set("a.B") }', "build.gradle.kts"],
    ['mainClassName = "a.B"', "build.gradle"],
  ])("%s in %s names the program", (text, name) => {
    const sources = ["A", "B"].map((it) => ({ file: `/w/src/main/java/a/${it}.java`, text: main("a") }));
    const targets = javaTargets([project(`/w/${name}`, text)], sources);
    expect(targets.map(({ mainClass }) => mainClass)).toEqual(["a.B", "a.A"]);
  });

  test("a module is built from the folder that lists it; a parent that lists none is left alone", () => {
    const sources = [{ file: "/w/app/src/main/java/a/B.java", text: main("a") }];
    const inner = project("/w/app/pom.xml", pom("<parent></parent>"));
    const topOf = (outer: string) => javaTargets([project("/w/pom.xml", outer, true), inner], sources)[0];
    expect(topOf(pom("<modules><module>app</module></modules>"))).toMatchObject({ top: "/w", hasWrapper: true });
    expect(topOf(pom())).toMatchObject({ top: "/w/app", hasWrapper: false });
  });
});

describe("how they are built and started", () => {
  const target: JavaTarget = {
    ...{ kind: "maven", folder: "/w", top: "/w", mainClass: "a.B", hasWrapper: false, hasLibraries: false },
  };

  test("by Maven, without tests; a file lists the libraries, if there are any", () => {
    expect(javaCommands(target)).toEqual({ commands: ["mvn -B -DskipTests package"], classes: ["/w/target/classes"] });
    const module = { ...target, folder: "/w/my app", hasWrapper: true, hasLibraries: true };
    expect(javaCommands(module)).toEqual({
      commands: [
        "./mvnw -B -DskipTests -pl 'my app' -am package dependency:build-classpath -DincludeScope=runtime -Dmdep.outputFile=target/fulcrum-classpath.txt",
      ],
      libraries: "/w/my app/target/fulcrum-classpath.txt",
      classes: ["/w/my app/target/classes"],
    });
  });

  test("by Gradle, whose application plugin collects the libraries", () => {
    const gradle: JavaTarget = { ...target, kind: "gradle", hasWrapper: true };
    expect(javaCommands(gradle)).toEqual({
      commands: ["./gradlew classes"],
      classes: ["/w/build/classes/java/main", "/w/build/resources/main"],
    });
    expect(javaCommands({ ...gradle, folder: "/w/app", hasLibraries: true, hasWrapper: false })).toEqual({
      commands: ["gradle :app:installDist"],
      installed: "/w/app/build/install",
      classes: [],
    });
  });
});

describe("on disk", () => {
  let folder = "";
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("they are found beside native programs, also with a wrapper, and not in build folders", async () => {
    folder = mkdtempSync(path.join(tmpdir(), "fulcrum-java-"));
    const write = (file: string, text: string) => {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    };
    write("pom.xml", pom());
    write("mvnw", "#!/bin/sh\n");
    chmodSync(path.join(folder, "mvnw"), 0o755);
    write("src/main/java/shop/Server.java", main("shop"));
    write("target/classes/shop/Server.class", "");
    write("node_modules/x/pom.xml", pom());
    const { built, targets, java } = await findPrograms(folder);
    expect([built, targets]).toEqual([[], []]);
    expect(java).toEqual([
      {
        ...{ kind: "maven", folder, top: folder, mainClass: "shop.Server" },
        ...{ hasWrapper: true, hasLibraries: false },
      },
    ]);
  });
});

describe("what a program last wrote", () => {
  let run = "";
  afterEach(() => rmSync(run, { recursive: true, force: true }));

  test("errors before output, only the end of a long text, and nothing if there is none", async () => {
    run = mkdtempSync(path.join(tmpdir(), "fulcrum-output-"));
    expect(await lastWritten(run)).toBeUndefined();
    writeFileSync(path.join(run, "stdout.txt"), `${"x".repeat(1 << 20)}\nStarting…\n\nSyntax: server CONFIG\n`);
    writeFileSync(path.join(run, "stderr.txt"), "\n");
    const written = await lastWritten(run);
    expect(written?.file).toBe(path.join(run, "stdout.txt"));
    expect(written?.lines.slice(-2)).toEqual(["Starting…", "Syntax: server CONFIG"]);
    writeFileSync(path.join(run, "stderr.txt"), "Exception in thread main\n");
    expect((await lastWritten(run))?.lines).toEqual(["Exception in thread main"]);
  });
});

test("a command is shown without the class path", () => {
  const args = ["-cp", `/w/target/classes:${"/home/x/library.jar:".repeat(20)}`, "shop.Server", "a b"];
  expect(shownCommand({ program: "java", args, cwd: "/w" })).toBe(
    "java -cp '/w/target/classes:/home/x/library.jar:/h…' shop.Server 'a b'",
  );
});
