/** Emulated browsers: each requests a page, reads it, thinks, and requests the next one. */
import { setMaxListeners } from "node:events";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { INTERACTIONS, mix } from "./interactions.mjs";

/** The longest think time: ten times the mean, as in TPC-W (clause 5.3.1.1). */
const LONGEST_THOUGHT = 10;

/** The response time of each page, by interaction, in milliseconds. */
export class Measured {
  /** @type {Record<string, number[]>} */
  milliseconds = Object.fromEntries(Object.keys(INTERACTIONS).map((name) => [name, []]));
  /** Pages whose results the shop may keep: what was asked, and from when to when, in milliseconds. */
  asked = [];

  /** Count, mean and 95th percentile in milliseconds, and pages per second. */
  summary(seconds) {
    return Object.entries(this.milliseconds).map(([name, all]) => {
      const sorted = [...all].sort((a, b) => a - b);
      const mean = all.reduce((sum, it) => sum + it, 0) / all.length;
      const p95 = sorted[Math.ceil(0.95 * sorted.length) - 1];
      return { name, count: all.length, mean, p95, throughput: all.length / seconds };
    });
  }
}

/** One browser: its customer, its cart, and its random numbers. */
export class Browser {
  cart = 0;
  #state;

  /** @param {{ items: number, customers: number }} shop */
  constructor(number, shop, port, agent) {
    this.#state = 0x9e3779b9 * (number + 1);
    this.shop = shop;
    this.port = port;
    this.agent = agent;
    this.customer = this.draw(shop.customers);
  }

  /** A number from 0 to below 1, by mulberry32, so that each run makes the same requests. */
  random() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 1 to `most`. */
  draw(most) {
    return 1 + Math.floor(this.random() * most);
  }

  /** Makes an interaction, after creating a cart if it needs one. */
  async visit(name, measured) {
    const { query, needsCart, isKept } = INTERACTIONS[name];
    if (needsCart && !this.cart) {
      await this.visit("ShoppingCart", measured);
    }
    const wanted = query(this);
    const from = performance.now();
    const { cart } = await this.#get(`/bookstore/${name.toLowerCase()}?${wanted}`);
    const to = performance.now();
    measured.milliseconds[name].push(to - from);
    if (isKept) {
      measured.asked.push({ name, query: wanted, from, to });
    }
    this.cart = name === "BuyConfirm" ? 0 : cart || this.cart;
  }

  /** @returns {Promise<{ cart: number }>} */
  #get(path) {
    return new Promise((resolve, reject) => {
      const request = http.get({ host: "127.0.0.1", port: this.port, path, agent: this.agent }, (response) => {
        response.resume().on("error", reject);
        response.on("end", () => {
          const cart = Number(response.headers["x-cart"] ?? 0);
          response.statusCode === 200 ? resolve({ cart }) : reject(new Error(`${path}: ${response.statusCode}`));
        });
      });
      request.on("error", (error) => reject(new Error(`${path}: ${error.message}`)));
    });
  }
}

/**
 * One browser requests every page once; then all browsers use the shop for a while.
 * @returns {Promise<{ measured: Measured, seconds: number }>} for all pages, including the first fourteen
 */
export async function browse({ browsers, seconds, think, adminShare, shop, port, signal }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const measured = new Measured();
  setMaxListeners(0, signal); // Each thinking browser listens.
  const all = Array.from({ length: browsers }, (_, number) => new Browser(number, shop, port, agent));
  const began = performance.now();
  try {
    for (const name of Object.keys(INTERACTIONS)) {
      await all[0].visit(name, measured);
    }
    const until = performance.now() + 1000 * seconds;
    const shares = mix(adminShare);
    await Promise.all(all.map((browser) => goThrough(browser, { shares, think, until, measured, signal })));
  } finally {
    agent.destroy();
  }
  return { measured, seconds: (performance.now() - began) / 1000 };
}

async function goThrough(browser, { shares, think, until, measured, signal }) {
  const total = shares.at(-1).upTo;
  while (!signal.aborted) {
    const thought = Math.min(-think * Math.log(1 - browser.random()), LONGEST_THOUGHT * think);
    await pause(1000 * thought, undefined, { signal });
    if (performance.now() >= until) {
      return;
    }
    const drawn = browser.random() * total;
    await browser.visit(shares.find(({ upTo }) => drawn < upTo).name, measured);
  }
}
