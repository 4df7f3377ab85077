/** A Maven server, from an open folder to its methods. Our own wrapper script builds it, without a network. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { frameWith, until } from "./workbench.mjs";

const server = `package shop;

public class Server {
  public static void main(String[] args) throws Exception {
    if (args.length == 0) {
      System.out.println("Starting");
      System.out.println("Syntax: server CONFIG");
      return;
    }
    while (true) {
      serve(args[0]);
      Thread.sleep(10);
    }
  }

  static int serve(String what) {
    return what.length();
  }
}
`;
const importer = `package shop;

public class Import {
  public static void main(String[] args) {}
}
`;

/** A project with two programs below `shop`. */
export function writeShop(folder) {
  const shop = path.join(folder, "shop");
  const sources = path.join(shop, "src", "main", "java", "shop");
  mkdirSync(sources, { recursive: true });
  writeFileSync(path.join(shop, "pom.xml"), "<project><mainClass>shop.Server</mainClass></project>\n");
  const build = "mkdir -p target/classes && javac -g -d target/classes src/main/java/shop/*.java";
  writeFileSync(path.join(shop, "mvnw"), `#!/bin/sh\necho "$@" > asked\n${build}\n`, { mode: 0o755 });
  writeFileSync(path.join(sources, "Server.java"), server);
  writeFileSync(path.join(sources, "Import.java"), importer);
}

export async function javaTests({ test, vscode, page }) {
  const row = (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  const toast = (text) => page.locator(".notifications-toasts .notification-list-item", { hasText: text }).first();

  await test("for a Java program, the causal profiler's wizard offers a trace, and builds the program first", async () => {
    await vscode.command("Fulcrum: Run Causal Profiler");
    await vscode.asked("(1/4)");
    await row(/Server.*Maven in shop · shop\.Server/).waitFor();
    await vscode.answer("(1/4)", "Server");
    await vscode.answer("Record a Trace: Arguments");
    await vscode.answer("(2/2)");
    await frameWith(page, "#trace:not([hidden]) #events .row");
    const said = toast("Server ended by itself");
    await said.waitFor();
    assert.match(await said.textContent(), /It last wrote: Starting \/ Syntax: server CONFIG/);
  });

  await test("a server is recorded until it is stopped, and refined in sessions", async () => {
    await toast("Server ended by itself").locator(".monaco-button", { hasText: "Record Again" }).click();
    await row(/Server.*last time · built first/).waitFor();
    await vscode.answer("(1/2)");
    await vscode.answer("Record a Trace: Arguments", "x");
    await vscode.answer("(2/2)");
    const going = toast("Recording Server. Use it now");
    // The earlier trace.
    await vscode.command("View: Close All Editors");
    await until(page, "events", async () => /[1-9][\d.]* [kM]?B of events/.test((await going.textContent()) ?? ""));
    await going.locator(".monaco-button", { hasText: "Cancel" }).click();
    const trace = await frameWith(page, "#trace:not([hidden]) #events .row");
    await vscode.command("Notifications: Clear All Notifications");
    await trace.locator("#refine").click();
    await vscode.asked("Refine Trace");
    const message = page.locator(".quick-input-widget", { hasText: "Keep using it until the loop ends" });
    await message.waitFor();
    await page.keyboard.press("Escape");
  });
}
