/**
 * The levels that need an editor, in one server and one browser: `node test/editor.mjs [host | ui | LEVEL/GROUP]…`. Each group
 * has its own window and workspace. Two groups run at a time, because each mostly waits. Campaigns run only when they are
 * named explicitly.
 */
import { startEditor } from "../scripts/editor.mjs";
import { hostGroups } from "./host/groups.mjs";
import { launchBrowser, openPage, quietSettings } from "./support/browser.mjs";
import { Level } from "./support/level.mjs";
import { engineBinary, makeWorkspace, scriptedEngine, stageDriver, stageExtension } from "./support/stage.mjs";
import { uiGroups } from "./ui/groups.mjs";

const atOnce = 2;

const wanted = process.argv.slice(2);
const all = [...uiGroups, ...hostGroups];
const isWanted = ({ level, name, campaign = false }) =>
  (!campaign && (wanted.length === 0 || wanted.includes(level))) || wanted.includes(`${level}/${name}`);
const groups = all.filter(isWanted);
const unknown = wanted.filter((word) => !all.some(({ level, name }) => word === level || word === `${level}/${name}`));
if (unknown.length > 0) {
  throw new Error(
    `There is no group ${unknown.join(", ")}: choose among ${all.map((it) => `${it.level}/${it.name}`).join(", ")}.`,
  );
}

const levels = new Map(groups.map(({ level }) => [level, new Level(level)]));
const driver = await stageDriver();
const editor = await startEditor({
  extensions: [await stageExtension(), driver.folder],
  settings: quietSettings,
  env: { FULCRUM_ENGINE: scriptedEngine(engineBinary()), FULCRUM_HOST_SUITE: driver.suite },
});
const browser = await launchBrowser();

async function work() {
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const { level, name, trusted = true, empty = false, prepare, run } = group;
    const workspace = makeWorkspace();
    try {
      await prepare?.(workspace.folder);
      const open = () => openPage(browser, editor.url(empty ? undefined : workspace.folder), { trusted });
      await levels
        .get(level)
        .group(name, open, (page, test) => run({ page, test, workspace, level: levels.get(level) }));
    } catch (error) {
      levels.get(level).fail(`${name}: preparing the workspace`, String(error));
    } finally {
      workspace.remove();
    }
  }
}

try {
  await Promise.all(Array.from({ length: atOnce }, work));
} finally {
  await browser.close();
  await editor.stop();
}
for (const level of levels.values()) {
  level.write();
}
