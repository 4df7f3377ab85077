/** How many lock calls per second a program makes, counted by a preloaded library. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { parseReport } from "../lib/measure.mjs";

const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static __thread long mine;
static _Atomic long all;
static int (*next)(pthread_mutex_t *);
__attribute__((constructor)) static void find(void) { next = dlsym(RTLD_NEXT, "pthread_mutex_lock"); }
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (++mine % 1000 == 0) all += 1000;
  if (!next) find();
  return next(mutex);
}
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "locks=%ld\\n", all); }
`;

/** @returns {Promise<{ locksPerSecond: number }>} of the program alone, accurate to a thousand per thread */
export async function countLocks(program, variant) {
  const folder = path.join(root, "out", "bench", "locks");
  mkdirSync(folder, { recursive: true });
  const [file, library] = [path.join(folder, "locks.c"), path.join(folder, "locks.so")];
  writeFileSync(file, source);
  await run("gcc", ["-O2", "-shared", "-fPIC", file, "-o", library]);
  const counted = await runChild([program, String(variant.units)], { env: { ...variant.env, LD_PRELOAD: library } });
  const alone = await runChild([program, String(variant.units)], { env: variant.env });
  const locks = /^locks=(\d+)$/m.exec(counted.stderr)?.[1];
  const report = parseReport(alone.stdout);
  if (locks === undefined || report === undefined) {
    throw new StepError(`${path.basename(program)} did not report its number of locks:\n${counted.stderr}`);
  }
  return { locksPerSecond: Number(locks) / report.seconds };
}
