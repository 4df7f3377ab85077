/**
 * The versions of coz that are here: the distribution's, and one from a checkout (`coz=FOLDER`), which is built in out/bench.
 * BCOZ is none of them: it needs the kernel that its authors changed (5.3.7, with samples of blocked threads).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError, step, tryRun, which } from "../../lib/steps.mjs";
import { cozVersion } from "../lib/machine.mjs";
import { named } from "../others/build.mjs";

const cache = path.join(root, "out", "bench", "others", "coz-build");
/** What takes LIEF's place. */
const reader = path.join(root, "scripts", "bench", "accuracy", "lief");

/** @typedef {{ key: string, title: string, command: string[] }} Peer */

/** @param {Record<string, string>} folders @returns {Promise<Peer[]>} */
export async function findPeers(folders) {
  const peers = [];
  if (which("coz") !== undefined) {
    peers.push({ key: "coz", title: await cozVersion(), command: ["coz"] });
  }
  const head = await fromCheckout(folders).catch((error) => {
    if (!(error instanceof StepError)) {
      throw error;
    }
    console.log(`coz from a checkout is left out: ${error.message}`);
  });
  return head === undefined ? peers : [...peers, head];
}

/**
 * Its own CMake builds it. It reads sections of programs by LIEF, a library that takes longer to build than all the rest; a
 * small reader of the same interface stands in for it. libelfin is fetched by CMake unless `libelfin=FOLDER` names it.
 */
async function fromCheckout(folders) {
  const folder = await named("coz", "coz's source", "libcoz/profiler.cpp")(folders);
  const revision = await tryRun("git", ["-C", folder, "rev-parse", "--short", "HEAD"]);
  const version = /project\(coz VERSION (\S+)/.exec(readFileSync(path.join(folder, "CMakeLists.txt"), "utf8"))?.[1];
  const title = `coz ${version ?? "?"} (${revision.code === 0 ? revision.stdout.trim() : "a copy without history"})`;
  const script = path.join(folder, "coz");
  const library = path.join(cache, "libcoz", "libcoz.so");
  const mark = path.join(cache, ".built");
  if (!existsSync(mark) || readFileSync(mark, "utf8") !== title) {
    mkdirSync(cache, { recursive: true });
    const own = folders.libelfin === undefined ? [] : [`-DFETCHCONTENT_SOURCE_DIR_LIBELFIN=${folders.libelfin}`];
    const lief = ["-DUSE_SYSTEM_LIEF=ON", `-DLIEF_DIR=${reader}`];
    await step(`build ${title}`, async () => {
      await run("cmake", ["-S", folder, "-B", cache, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", ...lief, ...own]);
      await run("cmake", ["--build", cache, "--target", "coz", "-j2"]);
    });
    writeFileSync(mark, title);
  }
  return { key: "coz-head", title, command: ["env", `COZ_PRELOAD=${library}`, "python3", script] };
}
