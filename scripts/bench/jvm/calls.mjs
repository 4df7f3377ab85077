/** The cost of one monitored call, by JMH. Each tool runs in its own virtual machine, in turn, several times. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { agent, compile, jar, work } from "./tools.mjs";

const filter = "observe_method_invocations\nincludemethod bench.Target work\n";
const valuesToo = `${filter}observe_values bench.Target work\n`;
const aop = `<aspectj><weaver options=""><include within="bench.Target"/></weaver>
<aspects><aspect name="kieker.monitoring.probe.aspectj.operationExecution.OperationExecutionAspectFull"/></aspects></aspectj>
`;

/** @returns {Promise<{ tool: string, jdk: string, ns: number[] }[]>} nanoseconds per call in each round, monitored or not */
export async function measureCalls({ jdks, jars, quick }) {
  const jmh = jars.filter((file) => /jmh|jopt|commons-math/.test(path.basename(file)));
  const classes = await compile(jdks[0], "calls", ["Call.java", "Target.java"], jmh);
  mkdirSync(path.join(classes, "META-INF"), { recursive: true });
  writeFileSync(path.join(classes, "META-INF", "aop.xml"), aop);
  const profiler = await asyncProfiler(jars);
  const variants = jdks.flatMap((jdk) => toolsFor(jdk, jars, profiler).map((tool) => ({ ...tool, jdk, ns: [] })));
  const rounds = quick ? 1 : 7;
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) {
      variant.ns.push(await measure(variant, [classes, ...jmh].join(":"), quick));
    }
  }
  return variants.map(({ tool, jdk, ns }) => ({ tool, jdk: jdk.name, ns }));
}

/** The tools that run on this JDK, and the options that start them. `folder` is for their output. */
function toolsFor(jdk, jars, profiler) {
  const tools = [
    { tool: "none", options: () => [] },
    { tool: "Fulcrum", options: (folder) => fulcrum(folder, filter) },
    { tool: "Fulcrum, with arguments and result", options: (folder) => fulcrum(folder, valuesToo) },
    {
      tool: "async-profiler 4.1, method event",
      options: (folder) => [
        `-agentpath:${profiler}=start,event=bench.Target.work,jfr,file=${path.join(folder, "calls.jfr")}`,
      ],
    },
  ];
  // AspectJ's weaver does not read class files of newer versions.
  if (jdk.version < 22) {
    tools.push({
      tool: "Kieker 1.15.4, AspectJ, file writer",
      options: (folder) => [
        `-javaagent:${jar(jars, "kieker")}`,
        "-Dkieker.monitoring.skipDefaultAOPConfiguration=true",
        "-Dkieker.monitoring.writer=kieker.monitoring.writer.filesystem.FileWriter",
        `-Dkieker.monitoring.writer.filesystem.FileWriter.customStoragePath=${folder}`,
      ],
    });
  }
  // JEP 520.
  if (jdk.version >= 25) {
    tools.push({
      tool: "JFR method trace",
      options: (folder) => [
        `-XX:StartFlightRecording:method-trace=bench.Target::work,filename=${path.join(folder, "calls.jfr")}`,
      ],
    });
  }
  return tools;
}

function fulcrum(folder, filter) {
  writeFileSync(path.join(folder, "filter"), filter);
  writeFileSync(path.join(folder, "agent.options"), `limit=${8 * 2 ** 30}\n`);
  return [`-agentpath:${agent}=${folder}`];
}

async function measure({ tool, jdk, options }, classpath, quick) {
  const folder = path.join(work, "written");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const result = path.join(work, "result.json");
  rmSync(result, { force: true });
  const [warmup, measured, seconds] = quick ? [1, 1, "200ms"] : [2, 3, "500ms"];
  const jmh = ["-f", "1", "-wi", warmup, "-w", seconds, "-i", measured, "-r", seconds, "-rf", "json", "-rff", result];
  const inner = ["-jvmArgs", ["-Xms256m", "-Xmx512m", ...options(folder)].join(" ")];
  const command = [jdk.java, "-cp", classpath, "org.openjdk.jmh.Main", ...jmh.map(String), ...inner];
  const { code, stdout, stderr } = await runChild(command, { limit: 60 });
  const [found] = code === 0 ? JSON.parse(readFileSync(result, "utf8")) : [];
  rmSync(folder, { recursive: true, force: true });
  if (found === undefined && tool !== "none" && !tool.startsWith("Fulcrum")) {
    console.log(`${tool} does not run on JDK ${jdk.name}: ${code}.`);
    return null;
  }
  if (found === undefined) {
    throw new StepError(`${tool} failed on JDK ${jdk.name}:\n${stdout}${stderr}`);
  }
  return found.primaryMetric.score;
}

async function asyncProfiler(jars) {
  const folder = path.join(work, "async-profiler");
  mkdirSync(folder, { recursive: true });
  const file = "linux-x64/libasyncProfiler.so";
  await run("jar", ["xf", jar(jars, "async-profiler"), file], { cwd: folder });
  return path.join(folder, file);
}
