/** The tools that builds need, and their installation where we may install. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { run, StepError, step, tryRun, which } from "./steps.mjs";

const minimumNode = [20, 20];
const minimumRust = [1, 88];

/**
 * Programs and the Debian packages that have them. Optional ones let a test do more; they are installed where we may install,
 * and never required. (lld, mold: test programs linked by them; coz: its header, for the test that programs built for coz need
 * no rebuild.)
 */
const packages = [
  { program: "g++", name: "g++", tests: false },
  { program: "git", name: "git", tests: false },
  { program: "tar", name: "tar", tests: false },
  { program: "objcopy", name: "binutils", tests: false },
  { program: "chromium", name: "chromium", tests: true },
  { program: "javac", name: "default-jdk-headless", tests: true },
  { program: "ld.lld", name: "lld", tests: true, optional: true },
  { program: "mold", name: "mold", tests: true, optional: true },
  { program: "coz", name: "coz-profiler", tests: true, optional: true },
];

/**
 * Checks the tools, installs missing Debian packages as root on Debian, and otherwise throws one line.
 * @param {{ tests: boolean }} options whether the tools that only tests need are needed, too: a browser, a JDK
 */
export async function checkTools({ tests }) {
  const node = process.versions.node.split(".").map(Number);
  if (older(node, minimumNode)) {
    throw new StepError(
      `Node ${minimumNode.join(".")} or newer is needed, this is ${process.versions.node}: install a newer one.`,
    );
  }
  await installMissing(
    packages.filter(({ program, tests: forTests }) => (tests || !forTests) && which(program) === undefined),
  );
  findCargo();
  const { code, output } = await tryRun("cargo", ["--version"]);
  const version = /cargo (\d+)\.(\d+)/.exec(output);
  if (code !== 0 || version === null || older([Number(version[1]), Number(version[2])], minimumRust)) {
    const found = version === null ? "none was found" : `this is ${version[1]}.${version[2]}`;
    throw new StepError(
      `Rust ${minimumRust.join(".")} or newer is needed, ${found}: install it with rustup (rustup.rs).`,
    );
  }
}

function older(version, minimum) {
  return version[0] < minimum[0] || (version[0] === minimum[0] && version[1] < minimum[1]);
}

/** rustup's folder is often missing from a fresh shell's PATH. */
function findCargo() {
  const folder = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "bin");
  if (which("cargo") === undefined && existsSync(path.join(folder, "cargo"))) {
    process.env.PATH = `${folder}${path.delimiter}${process.env.PATH ?? ""}`;
  }
}

async function installMissing(missing) {
  const debian = existsSync("/etc/debian_version") && which("apt-get") !== undefined;
  const ours = debian && process.getuid?.() === 0;
  const needed = missing.filter(({ optional }) => !optional);
  if (needed.length > 0 && !ours) {
    const names = needed.map(({ name }) => name);
    const how = debian ? `run \`sudo apt-get install ${names.join(" ")}\`` : `install ${names.join(", ")}`;
    throw new StepError(`Missing: ${needed.map(({ program }) => program).join(", ")}. Please ${how} and try again.`);
  }
  if (missing.length === 0 || !ours) {
    return;
  }
  const names = missing.map(({ name }) => name);
  const install = async (wanted) => {
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-qq"], { env });
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...wanted], { env });
  };
  await step(`Debian packages: ${names.join(" ")}`, async () => {
    try {
      await install(names);
    } catch (error) {
      if (needed.length === missing.length) {
        throw error;
      }
      // Not every Debian release has the optional ones, and not every machine is online.
      if (needed.length > 0) {
        await install(needed.map(({ name }) => name));
      }
    }
  });
}
