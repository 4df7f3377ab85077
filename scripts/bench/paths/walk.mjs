/** An analyst's way through a profile, by dice that are the same each time. */
import { generator } from "../lib/statistics.mjs";

const labels = 20;

/**
 * Walks and notes how long each command took.
 * @param {import("./process.mjs").Navigator} navigator
 * @param {number} searches how often to begin anew from a suggestion
 * @param {number} seed of the dice
 * @returns {Promise<Record<string, number[]>>} milliseconds by kind of command
 */
export async function walk(navigator, searches, seed = 7) {
  const random = generator(seed);
  const times = {};
  const ask = async (kind, command) => {
    const { answer, ms } = await navigator.ask(command);
    times[kind] = [...(times[kind] ?? []), ms];
    return answer;
  };
  for (let search = 0; search < searches; search += 1) {
    await ask("settings", `set suggester ${search % 2 === 0 ? "HighCum" : "HighBase"}`);
    await ask("settings", `zoom ${search % 4 < 2 ? "off" : "on"}`);
    const { rows } = await ask("suggest", "suggest");
    let here = await ask("select", `select ${rows[Math.floor(random() * rows.length)].number}`);
    for (let length = 0; length < 12; length += 1) {
      const next = choose(here.nearby, random);
      if (next === undefined) {
        break;
      }
      here = await ask("select", `select ${next.number}`);
    }
    await ask("label", `label bottleneck ${search % labels}`);
    await ask("overlap", "overlap");
    await ask("labels", "labels");
    await ask("back and forward", "back");
    await ask("back and forward", "forward");
  }
  return times;
}

/** Mostly up, as the paper's analyst goes, and mostly to the most costly. */
function choose(nearby, random) {
  const dice = random();
  const step = dice < 0.6 ? "extendTop" : dice < 0.85 ? "extendBottom" : dice < 0.93 ? "trimTop" : "trimBottom";
  const there = nearby.filter((row) => row.step === step);
  const all = there.length > 0 ? there : nearby;
  return all[Math.floor(all.length * random() ** 3)];
}
