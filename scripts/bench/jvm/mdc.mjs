/**
 * The M/D/c queue: Poisson arrivals, a constant service time, c servers, first come first served.
 *
 * {@link stationary} is Crommelin's argument (1932): after one service time D, exactly those customers that are being served now
 * have left. So the number N of customers obeys N(t + D) = max(N(t) − c, 0) + Poisson(λD), whose fixed point is the stationary
 * distribution. The mean wait follows by Little's law, and P(wait > 0) because Poisson arrivals see time averages.
 * {@link simulatedMeans} gives how far the mean of finitely many requests may be from that.
 */
import { generator } from "../lib/statistics.mjs";

/**
 * Long-run means.
 * @param {number} rate arrivals a second
 * @param {number} service seconds
 * @param {number} servers
 * @returns {{ load: number, delayed: number, wait: number, response: number }} servers' load; probability of a wait; mean
 *   wait and response in seconds
 */
export function stationary(rate, service, servers) {
  const load = (rate * service) / servers;
  if (!(load > 0 && load < 1)) {
    throw new RangeError(`A load of ${load} has no long-run mean: it must be above 0 and below 1.`);
  }
  // The queue's tail decays about as exp(−2(1 − load)/load · k/c), so the states beyond this many are negligible.
  const states = Math.ceil(servers * (10 + (25 * load) / (1 - load)));
  const arriving = poisson(rate * service, states);
  let now = new Float64Array(states);
  now[0] = 1;
  for (let change = 1; change > 1e-13; ) {
    const next = new Float64Array(states);
    for (let n = 0; n < states; n += 1) {
      const left = Math.max(n - servers, 0);
      for (let more = 0; left + more < states; more += 1) {
        next[left + more] += now[n] * arriving[more];
      }
    }
    const total = sum(next);
    change = 0;
    for (let n = 0; n < states; n += 1) {
      next[n] /= total;
      change += Math.abs(next[n] - now[n]);
    }
    now = next;
  }
  const queue = now.reduce((length, share, n) => length + Math.max(n - servers, 0) * share, 0);
  const wait = queue / rate;
  return { load, delayed: sum(now.subarray(servers)), wait, response: wait + service };
}

/**
 * Mean waits of many simulated runs that start empty, seconds. Each has the measured number of requests in the measured time:
 * given their number, the arrivals of a Poisson process are distributed uniformly.
 * @param {{ count: number, span: number, service: number, servers: number }} measured `span` is from the first arrival to
 *   the last, seconds
 * @param {{ runs?: number, seed?: number }} [options]
 */
export function simulatedMeans({ count, span, service, servers }, { runs = 2000, seed = 1 } = {}) {
  const random = generator(seed);
  const services = new Array(count).fill(service);
  return Array.from({ length: runs }, () => {
    const gaps = Array.from({ length: count - 1 }, () => -Math.log(1 - random()));
    const scale = span / sum(gaps);
    const arrivals = [0];
    for (const gap of gaps) {
      arrivals.push(arrivals[arrivals.length - 1] + gap * scale);
    }
    const starts = firstComeFirstServed(arrivals, services, servers);
    return sum(starts.map((start, n) => start - arrivals[n])) / count;
  });
}

/**
 * When each request's service begins (Kiefer and Wolfowitz): at its arrival, or when the first server becomes free.
 * @param {readonly number[]} arrivals ascending
 * @param {readonly number[]} services
 * @param {number} servers
 * @returns {number[]}
 */
export function firstComeFirstServed(arrivals, services, servers) {
  const free = new Array(servers).fill(-Infinity);
  return arrivals.map((arrival, n) => {
    const first = free.indexOf(Math.min(...free));
    const start = Math.max(arrival, free[first]);
    free[first] = start + services[n];
    return start;
  });
}

function poisson(mean, states) {
  const shares = new Float64Array(states);
  shares[0] = Math.exp(-mean);
  for (let n = 1; n < states; n += 1) {
    shares[n] = (shares[n - 1] * mean) / n;
  }
  return shares;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
