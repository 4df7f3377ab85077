import { describe, expect, test } from "vitest";
import { RestartPolicy } from "../../extension/core/engine/restart";

/** Simulates starts and crashes. Each number is how long the engine ran, in milliseconds. */
function play(lives: number[]): (number | "ends")[] {
  const policy = new RestartPolicy({ firstDelay: 200, longestDelay: 1000, quick: 30_000, limit: 5 });
  let now = 0;
  return lives.map((life) => {
    policy.started(now);
    now += life;
    const decision = policy.crashed(now);
    return decision.restart ? decision.delay : "ends";
  });
}

describe("the delay doubles with each quick crash, and the fifth ends the restarts", () => {
  const table: [lives: number[], decisions: (number | "ends")[]][] = [
    [[10], [200]],
    [
      [10, 10, 10, 10, 10],
      [200, 400, 800, 1000, "ends"],
    ],
    [
      [10, 10, 10, 10, 40_000, 10],
      [200, 400, 800, 1000, 200, 400],
    ],
    [Array(8).fill(60_000), Array(8).fill(200)],
  ];
  test.each(table)("%j", (lives, decisions) => {
    expect(play(lives)).toEqual(decisions);
  });
});

test("a manual restart resets the count", () => {
  const policy = new RestartPolicy({ limit: 2 });
  policy.started(0);
  expect(policy.crashed(1).restart).toBe(true);
  policy.reset();
  policy.started(2);
  expect(policy.crashed(3).restart).toBe(true);
});
