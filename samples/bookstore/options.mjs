/** The command's options. */
import { parseArgs } from "node:util";
import { StepError } from "../../scripts/lib/steps.mjs";

export const usage = `node samples/bookstore/run.mjs [OPTION…]: haproxy, Tomcat and MariaDB, and browsers that go through the shop

  --engine myisam|innodb  the tables' engine [myisam]
  --item myisam|innodb    the engine of the table item alone: the first repair of Whodunit §8.4 [as --engine]
  --cache                 keep what BestSellers and SearchResults find: the second repair
  --browsers N            emulated browsers [30]
  --seconds N             how long they go through the shop [30]
  --think SECONDS         mean time between two pages of a browser; TPC-W's is 7 [0.7]
  --admin PERCENT         share of AdminRequest and of AdminConfirm [0.10 and 0.09, TPC-W's browsing mix]
  --items N               items in the shop [10000]
  --customers N           customers; there are 0.9 orders for each [28800]
  --port N                haproxy's; Tomcat gets the next one and MariaDB the one after [28180]
  --profile               record all three tiers with \`fulcrum transactions run\`
  --output DIR            where the recorded run goes [.fulcrum/runs]
  --fulcrum PROGRAM       [bin/fulcrum of this repository, or the one in PATH]
  --json FILE             also write what was measured, and what MariaDB says itself`;

const text = { type: /** @type {const} */ ("string") };
const flag = { type: /** @type {const} */ ("boolean") };

/** @param {string[]} args */
export function parse(args) {
  let values;
  try {
    const options = { engine: text, item: text, browsers: text, seconds: text, think: text, admin: text, items: text };
    const more = { customers: text, port: text, output: text, fulcrum: text, json: text };
    ({ values } = parseArgs({ args, options: { ...options, ...more, cache: flag, profile: flag, help: flag } }));
  } catch (error) {
    throw new StepError(`${error.message}\n\n${usage}`);
  }
  const engine = oneOf("engine", values.engine ?? "myisam");
  const number = (name, otherwise, least) => numeric(name, values[name], otherwise, least);
  return {
    help: values.help === true,
    engine,
    itemEngine: oneOf("item", values.item ?? engine),
    cache: values.cache === true,
    browsers: Math.floor(number("browsers", 30, 1)),
    seconds: number("seconds", 30, 1),
    think: number("think", 0.7, 0),
    adminShare: values.admin === undefined ? undefined : number("admin", 0, 0),
    items: Math.floor(number("items", 10_000, 100)),
    customers: Math.floor(number("customers", 28_800, 100)),
    port: Math.floor(number("port", 28_180, 1024)),
    profile: values.profile === true,
    output: values.output,
    fulcrum: values.fulcrum,
    json: values.json,
  };
}

function oneOf(name, value) {
  if (!["myisam", "innodb"].includes(value)) {
    throw new StepError(`--${name} is myisam or innodb, not ${value}.`);
  }
  return value;
}

function numeric(name, value, otherwise, least) {
  const number = value === undefined ? otherwise : Number(value);
  if (!Number.isFinite(number) || number < least) {
    throw new StepError(`--${name} is a number from ${least}, not ${value}.`);
  }
  return number;
}
