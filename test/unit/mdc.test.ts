/** The queueing theory that `npm run bench -- jvm dispatcher` compares its results with. */
import { describe, expect, test } from "vitest";
import { agree, requestsOf, truthOf } from "../../scripts/bench/jvm/dispatcher.mjs";
import { firstComeFirstServed, simulatedMeans, stationary } from "../../scripts/bench/jvm/mdc.mjs";
import { generator, mean, middle95 } from "../../scripts/bench/lib/statistics.mjs";

test("one server: the Pollaczek–Khinchine formula", () => {
  for (const load of [0.1, 0.5, 0.8]) {
    const { wait, delayed } = stationary(load, 1, 1);
    expect(wait).toBeCloseTo(load / (2 * (1 - load)), 8);
    expect(delayed).toBeCloseTo(load, 8);
  }
});

test("the scenario of JPMT's section 5", () => {
  const { load, delayed, wait, response } = stationary(4, 1 / 1.75, 3);
  expect(load).toBeCloseTo(0.7619, 4);
  expect(delayed).toBeCloseTo(0.571, 3);
  expect(wait).toBeCloseTo(0.2425, 4);
  expect(response).toBeCloseTo(0.8139, 4);
});

test("a queue that only grows has no mean", () => {
  expect(() => stationary(6, 1, 3)).toThrow(/load of 2/);
});

test("the first free server takes the request that has waited longest", () => {
  expect(firstComeFirstServed([0, 1, 2, 3], [10, 3, 1, 1], 2)).toEqual([0, 1, 4, 5]);
});

test("long simulated runs are close to the long-run mean, and the same seed gives the same runs", () => {
  const measured = { count: 4000, span: 1000, service: 1 / 1.75, servers: 3 };
  const means = simulatedMeans(measured, { runs: 60 });
  const { low, high } = middle95(means);
  const { wait } = stationary(4, 1 / 1.75, 3);
  expect(low).toBeLessThan(wait);
  expect(high).toBeGreaterThan(wait);
  expect(mean(means) / wait).toBeCloseTo(1, 1);
  expect(simulatedMeans(measured, { runs: 2 })).toEqual(simulatedMeans(measured, { runs: 2 }));
});

describe("a replayed queue against theory", () => {
  /** A simulated M/D/3 run that includes the time to wake a thread. */
  function simulated(late: number) {
    const [measured] = [{ count: 600, span: 15, service: 0.0575, servers: 3 }];
    const random = generator(7);
    const arrivals = Array.from({ length: measured.count }, () => random() * measured.span).sort((a, b) => a - b);
    const begins = firstComeFirstServed(
      arrivals,
      arrivals.map(() => measured.service),
      3,
    );
    return arrivals.map((enqueue, n) => {
      const dispatch = (begins[n] ?? 0) + late;
      return { number: n + 1, enqueue, dispatch, finish: dispatch + measured.service, wait: dispatch - enqueue };
    });
  }

  test("agrees with M/D/3", () => {
    const requests = simulated(0);
    const result = agree(requests, requests);
    expect(result).toMatchObject({ count: 600, sameRequests: true, consistent: true, largest: 0, agrees: true });
    expect(result.service).toBeCloseTo(0.0575, 6);
    expect(result.delay).toBeCloseTo(0, 6);
  });

  test("disagrees if waits are not dispatch minus enqueue, not the program's, or not M/D/3's", () => {
    const requests = simulated(0);
    const wrong = requests.map((it, n) => (n === 5 ? { ...it, wait: it.wait + 0.002 } : it));
    expect(agree(wrong, requests)).toMatchObject({ consistent: false, agrees: false });
    const other = requests.map((it, n) => (n === 5 ? { ...it, enqueue: it.enqueue - 0.002 } : it));
    expect(agree(requests, other)).toMatchObject({ consistent: true, agrees: false });
    expect(agree(requests.slice(1), requests)).toMatchObject({ sameRequests: false, agrees: false });
    const slow = simulated(0.05);
    expect(agree(slow, slow)).toMatchObject({ sameRequests: true, consistent: true, agrees: false });
  });

  test("the program's own times are read from below its summary", () => {
    const text = "requests=2 arrivals=1/s\nnumber\tenqueue\tdispatch\tfinish\n1\t1000000000\t1500000000\t2000000000\n";
    expect(truthOf(text)).toEqual([{ number: 1, enqueue: 1, dispatch: 1.5, finish: 2 }]);
    const request = { number: 1, enqueueNs: 1e9, dispatchNs: 2e9, finishNs: 3e9, waitNs: 1e9, sure: true };
    expect(requestsOf({ requests: [request] })[0]).toMatchObject({ wait: 1, finish: 3 });
    expect(() => requestsOf({ requests: [{ ...request, dispatchNs: null }] })).toThrow(/Request 1/);
  });
});
