/**
 * Programs from the distribution's source packages, as samples. Each has a function that only reads, or that always gives the
 * same result for the same input: it is called four times, of which some are left out.
 */
import path from "node:path";
import { source, sqlite } from "../programs/sources.mjs";
import { folderOf, helper } from "./build.mjs";
import * as inputs from "./inputs.mjs";

const common = { measure: "throughput", round: 1 };
const zlib = [
  ...["minigzip", "adler32", "compress", "crc32", "deflate", "gzclose", "gzlib", "gzread", "gzwrite", "infback"],
  ...["inffast", "inflate", "inftrees", "trees", "uncompr", "zutil"],
];
const bzip2 = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];

/** @type {import("./build.mjs").Borrowed[]} */
export const packages = [
  {
    ...common,
    name: "lua-find",
    lesson: "An interpreter that runs a pattern search.",
    source: path.join(folderOf("lua-find"), "src", "lstrlib.c"),
    point: "search",
    units: 500,
    targets: [{ name: "match", kind: "inclusive", function: "match" }],
    origin: {
      find: () => source("lua5.4"),
      copy: ["src"],
      edits: {
        "src/lstrlib.c": [
          { at: "#define CAP_UNFINISHED", before: "BORROWED_TIMES(match, 4)" },
          {
            at: "static const char *match (MatchState *ms, const char *s, const char *p) {",
            target: "match",
          },
          {
            at: "reprepstate(&ms);",
            after: "static int str_find_aux",
            with: [["reprepstate(&ms);", "BORROWED_AGAIN(match) { reprepstate(&ms); res = match(&ms, s1, p); }"]],
          },
          { at: "if ((res=match(&ms, s1, p)) != NULL)", with: [["(res=match(&ms, s1, p))", "res"]] },
        ],
        "src/loslib.c": [
          { at: "lua_pushnumber", after: "static int os_clock (lua_State *L) {", first: 'BORROWED_UNIT("search");' },
        ],
      },
      compile: (flags, output) => [
        ["sh", "-c", `echo '#define DEB_HOST_MULTIARCH ""' > src/lua5.4-deb-multiarch.h`],
        // The sources of the library, and of one of the two programs.
        [
          ...["sh", "-c", 'gcc "$@" src/l[!u]*.c src/lu[!a]*.c src/lua.c -Wl,-E -lm -ldl', "sh", ...flags, helper],
          ...["-std=gnu99", "-DLUA_USE_LINUX", "-o", output],
        ],
      ],
      args: () => [inputs.luaScript(), inputs.text()],
    },
  },
  {
    ...common,
    name: "sqlite-like",
    lesson: "A query that compares every row with a pattern.",
    source: path.join(folderOf("sqlite-like"), "sqlite3.c"),
    point: "query",
    units: 100,
    targets: [{ name: "compare", kind: "inclusive", function: "patternCompare" }],
    origin: {
      find: async () => path.dirname(await sqlite()),
      copy: ["sqlite3.c", "sqlite3.h", "shell.c"],
      edits: {
        "sqlite3.c": [
          { at: "static int patternCompare(", before: "BORROWED_TIMES(compare, 4)" },
          { at: "static int patternCompare(", target: "compare" },
          {
            at: "if( zA && zB ){",
            after: "static void likeFunc(",
            behind: "int found = 0; BORROWED_AGAIN(compare) found = patternCompare(zB, zA, pInfo, escape);",
          },
          {
            at: "patternCompare(zB, zA, pInfo, escape)==SQLITE_MATCH);",
            with: [["patternCompare(zB, zA, pInfo, escape)==", "found=="]],
          },
        ],
        "shell.c": [
          {
            at: "exec_prepared_stmt(pArg, pStmt);",
            after: "static int shell_exec(",
            behind: 'BORROWED_UNIT("query");',
          },
        ],
      },
      compile: (flags, output) => [
        [
          ...["gcc", ...flags, "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", helper],
          ...["shell.c", "sqlite3.c", "-lm", "-o", output],
        ],
      ],
      // The table, and its rows.
      skip: 3,
      args: () => ["-batch", ":memory:", `.read ${inputs.queries()}`],
    },
  },
  {
    ...common,
    name: "zlib-minigzip",
    lesson: "Compression: a function that looks for the longest match.",
    source: path.join(folderOf("zlib-minigzip"), "deflate.c"),
    point: "block",
    units: 1000,
    targets: [{ name: "longest_match", kind: "function", function: "longest_match" }],
    origin: {
      find: () => source("zlib"),
      copy: [".", "test/minigzip.c"],
      edits: {
        "deflate.c": [
          { at: "local uInt longest_match(s, cur_match)", before: "BORROWED_TIMES(longest_match, 4)" },
          { at: "local uInt longest_match(s, cur_match)", target: "longest_match" },
          {
            at: "s->match_length = longest_match (s, hash_head);",
            all: true,
            first: "BORROWED_AGAIN(longest_match)",
          },
        ],
        "minigzip.c": [
          { at: "if (len == 0) break;", with: [["break;", "{ rewind(in); continue; }"]] },
          { at: "if (gzwrite(out, buf, (unsigned)len) != len)", behind: 'BORROWED_UNIT("block");' },
        ],
      },
      compile: (flags, output) => [
        ["gcc", ...flags, "-DHAVE_UNISTD_H", "-I", ".", helper, ...zlib.map((it) => `${it}.c`), "-o", output],
      ],
      args: () => ["-c", inputs.text()],
    },
  },
  {
    ...common,
    name: "pbzip2-sort",
    lesson: "Compression by two threads, between one that reads and one that writes.",
    source: path.join(folderOf("pbzip2-sort"), "blocksort.c"),
    point: "block",
    units: 12,
    targets: [{ name: "sort", kind: "inclusive", function: "BZ2_blockSort" }],
    origin: {
      find: async () => {
        await source("bzip2");
        return path.dirname(await source("pbzip2"));
      },
      copy: ["pbzip2/.", "bzip2/."],
      edits: {
        "blocksort.c": [{ at: "void BZ2_blockSort ( EState* s )", target: "sort" }],
        "compress.c": [
          { at: "void BZ2_bsInitWrite ( EState* s )", before: "BORROWED_TIMES(sort, 4)" },
          { at: "BZ2_blockSort ( s );", first: "BORROWED_AGAIN(sort)" },
        ],
        "pbzip2.cpp": [
          {
            at: "disposeMemory(fileData->buf);",
            after: "void *consumer (void *q)",
            behind: 'BORROWED_UNIT("block");',
          },
        ],
      },
      compile: (flags, output) => [
        ["gcc", ...flags, "-c", helper, ...bzip2.map((it) => `${it}.c`)],
        [
          ...["g++", ...flags, "-DUSE_STACKSIZE_CUSTOMIZATION", "-I", ".", "pbzip2.cpp", "BZ2StreamScanner.cpp"],
          ...["ErrorContext.cpp", ...["borrowed", ...bzip2].map((it) => `${it}.o`), "-o", output],
        ],
      ],
      skip: 4,
      args: () => ["-p2", "-b1", "-k", "-c", ...Array.from({ length: 200 }, inputs.text)],
    },
  },
];
