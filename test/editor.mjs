/**
 * The floors that need an editor, in one server and one browser: `node test/editor.mjs [host | ui | FLOOR/GROUP]…`. Each group
 * has a window and a workspace of its own; two go on at a time, as one waits most of the time. Campaigns run when they are
 * named.
 */
import { startEditor } from "../scripts/editor.mjs";
import { hostGroups } from "./host/groups.mjs";
import { launchBrowser, openPage, quietSettings } from "./support/browser.mjs";
import { Floor } from "./support/floor.mjs";
import { engineBinary, makeWorkspace, scriptedEngine, stageDriver, stageExtension } from "./support/stage.mjs";
import { uiGroups } from "./ui/groups.mjs";

const atOnce = 2;

const wanted = process.argv.slice(2);
const all = [...uiGroups, ...hostGroups];
const isWanted = ({ floor, name, campaign = false }) =>
  (!campaign && (wanted.length === 0 || wanted.includes(floor))) || wanted.includes(`${floor}/${name}`);
const groups = all.filter(isWanted);
const unknown = wanted.filter((word) => !all.some(({ floor, name }) => word === floor || word === `${floor}/${name}`));
if (unknown.length > 0) {
  throw new Error(
    `There is no group ${unknown.join(", ")}: choose among ${all.map((it) => `${it.floor}/${it.name}`).join(", ")}.`,
  );
}

const floors = new Map(groups.map(({ floor }) => [floor, new Floor(floor)]));
const driver = await stageDriver();
const editor = await startEditor({
  extensions: [await stageExtension(), driver.folder],
  settings: quietSettings,
  env: { FULCRUM_ENGINE: scriptedEngine(engineBinary()), FULCRUM_HOST_SUITE: driver.suite },
});
const browser = await launchBrowser();

async function work() {
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const { floor, name, trusted = true, empty = false, prepare, run } = group;
    const workspace = makeWorkspace();
    try {
      await prepare?.(workspace.folder);
      const open = () => openPage(browser, editor.url(empty ? undefined : workspace.folder), { trusted });
      await floors
        .get(floor)
        .group(name, open, (page, test) => run({ page, test, workspace, floor: floors.get(floor) }));
    } catch (error) {
      floors.get(floor).fail(`${name}: preparing the workspace`, String(error));
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
for (const floor of floors.values()) {
  floor.write();
}
