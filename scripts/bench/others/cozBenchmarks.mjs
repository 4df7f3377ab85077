/**
 * coz's own benchmarks (`coz=FOLDER`, a checkout of its repository), most of them from Phoenix, and one more from Phoenix
 * (`phoenix=FOLDER`). They are edited to run endlessly, and to have shorter units where a unit took seconds. Each target is a
 * loop that can be shortened, or work that only reads and so can be done four times, of which some are left out.
 */
import path from "node:path";
import { folderOf, helper, named } from "./build.mjs";
import * as inputs from "./inputs.mjs";

const coz = named("coz", "coz's source", "benchmarks/toy/toy.cpp");
const phoenix = named("phoenix", "Phoenix's source", "sample_apps/reverse_index/reverseindex-pthread.c");

/** Before the first line of a file. */
const top = (at, text) => ({ at, before: text });

/** One of coz's benchmarks. */
function benchmark(name, { file, edits, cxx = false, more = [], args = () => [], skip = 2, repair, ...rest }) {
  return {
    name: `coz-${name}`,
    measure: "throughput",
    round: 1,
    source: path.join(folderOf(`coz-${name}`), file),
    ...rest,
    origin: {
      find: coz,
      copy: [`benchmarks/${name}/.`],
      edits: { [file]: edits },
      compile: (flags, output) => [[cxx ? "g++" : "gcc", ...flags, helper, file, ...more, "-lm", "-o", output]],
      args,
      skip,
      ...(repair && { repair: { what: repair.what, edits: { [file]: repair.edits } } }),
    },
  };
}

/** @type {import("./build.mjs").Borrowed[]} */
export const cozBenchmarks = [
  benchmark("toy", {
    file: "toy.cpp",
    cxx: true,
    lesson: "Two threads of unequal length: COZ's Figure 1.",
    edits: [
      {
        at: "const unsigned long long its",
        first: "BORROWED_KEPT(longer, 8000000) BORROWED_KEPT(shorter, 4000000)",
      },
      { at: "for(x=0; x<its; x++) {}", with: [["x<its", "x<longer"]], target: "longer" },
      { at: "for(y=0; y<its/2; y++) {}", with: [["y<its/2", "y<shorter"]], target: "shorter" },
      { at: "i < 100", with: [["i < 100", "i >= 0"]] },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_UNIT("iteration")']] },
    ],
    point: "iteration",
    units: 60,
    targets: [
      { name: "longer", kind: "line" },
      { name: "shorter", kind: "line" },
    ],
  }),
  benchmark("lock_test", {
    file: "lock_test.cpp",
    cxx: true,
    lesson: "Four threads and one lock.",
    edits: [
      {
        at: "static pthread_mutex_t the_lock",
        before: "BORROWED_KEPT(critical, 1000000) BORROWED_KEPT(local, 200000)",
      },
      { at: "i < 5000000", lines: 3, with: [["i < 5000000", "i < critical"]], target: "critical" },
      { at: "i < 1000000", lines: 3, with: [["i < 1000000", "i < local"]], target: "local" },
      { at: "i < iters", with: [["i < iters", "i >= 0"]] },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_UNIT("iteration")']] },
    ],
    point: "iteration",
    units: 300,
    targets: [
      { name: "critical", kind: "line" },
      { name: "local", kind: "line" },
    ],
  }),
  benchmark("kmeans", {
    file: "kmeans-pthread.c",
    lesson: "Clustering: rounds of two phases, each by as many threads as there are processors.",
    edits: [
      top("int num_points; // number of vectors", "BORROWED_KEPT(distance, 100)"),
      {
        at: "for (i = 0; i < dim; i++)",
        after: "get_sq_dist(int *v1, int *v2)",
        lines: 4,
        with: [["i < dim", "i < distance"]],
        target: "distance",
      },
      { at: "while (modified)", with: [["modified", "1"]] },
      { at: "modified = false;", behind: 'BORROWED_UNIT("round");' },
    ],
    args: () => ["-d", "100", "-c", "20", "-p", "10000"],
    point: "round",
    units: 60,
    targets: [{ name: "distance", kind: "line" }],
  }),
  benchmark("string_match", {
    file: "string_match-pthread.c",
    lesson: "A search for words that computes the length of a word for each of its letters.",
    edits: [
      top("typedef struct {", "BORROWED_TIMES(hash, 4)"),
      {
        at: "for(i=0;i<strlen(word);i++) {",
        after: "void compute_hashes(char* word, char* final_word)",
        lines: 3,
        first: "BORROWED_AGAIN(hash)",
        target: "hash",
      },
      {
        at: "while( (total_len < ((map_args_t*)args)->length)",
        with: [
          [
            "(total_len < ((map_args_t*)args)->length)",
            "(total_len < ((map_args_t*)args)->length || (total_len = 0, key_file = data_in->keys_file, 1))",
          ],
        ],
      },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_EVERY(10000, "words")']] },
    ],
    repair: {
      what: "the length of a word is computed once, not for each letter",
      edits: [{ at: "BORROWED_AGAIN(hash)", with: [["i<strlen(word)", "word[i]"]] }],
    },
    args: () => [inputs.words()],
    point: "words",
    units: 300,
    targets: [{ name: "hash", kind: "line" }],
  }),
  benchmark("histogram", {
    file: "histogram-pthread.c",
    lesson: "Three lines that count colours.",
    edits: [
      top("int swap;", "BORROWED_TIMES(blue, 4)"),
      {
        at: "i < thread_arg->data_pos + thread_arg->data_len;",
        with: [["data_len;", "data_len || (i = thread_arg->data_pos, 1);"]],
      },
      { at: "blue[*val]++;", first: "BORROWED_AGAIN(blue)", target: "blue" },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_EVERY(500000, "pixels")']] },
    ],
    args: () => [inputs.bitmap()],
    point: "pixels",
    units: 300,
    targets: [{ name: "blue", kind: "line" }],
  }),
  benchmark("word_count", {
    file: "word_count-pthread.c",
    more: ["sort-pthread.c"],
    lesson: "A binary search for every word.",
    edits: [
      top("enum {", "BORROWED_TIMES(compare, 4)"),
      { at: "for (i = 0; i < args->length; i++)", with: [["i < args->length;", "i < args->length || (i = 0, 1);"]] },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_EVERY(100000, "letters")']] },
      {
        at: "cmp = strcmp(word, words[t_num][next].word);",
        first: "BORROWED_AGAIN(compare)",
        target: "compare",
      },
    ],
    args: () => [inputs.text()],
    // The first pass puts words into the table.
    skip: 100,
    point: "letters",
    units: 200,
    targets: [{ name: "compare", kind: "line" }],
  }),
  benchmark("pca", {
    file: "pca-pthread.c",
    lesson: "A covariance matrix, row by row, the rows of unequal length.",
    edits: [
      top("int num_rows;", "BORROWED_KEPT(product, 2000)"),
      {
        at: "for (k = 0; k < num_cols; k++)",
        lines: 3,
        with: [["k < num_cols", "k < product"]],
        target: "product",
      },
      { at: "i = next_row;", all: true, with: [["next_row", "next_row % num_rows"]] },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_UNIT("row")']] },
    ],
    args: () => ["-r", "100", "-c", "2000"],
    point: "row",
    units: 10_000,
    round: 100,
    targets: [{ name: "product", kind: "line" }],
  }),
  benchmark("matrix_multiply", {
    file: "matrix_multiply-pthread.c",
    lesson: "An inner loop that walks a matrix by columns.",
    edits: [
      top("typedef struct {", "BORROWED_KEPT(product, 300)"),
      { at: "while(row_count < args->length)", with: [["args->length", "args->length || (row_count = 0, 1)"]] },
      {
        at: "for(j=0;j<data->matrix_len ; j++)",
        lines: 5,
        with: [["j<data->matrix_len", "j<product"]],
        target: "product",
      },
      { at: "row_count++;", behind: 'BORROWED_UNIT("row");' },
    ],
    args: () => ["300", "-create_files"],
    point: "row",
    units: 5000,
    targets: [{ name: "product", kind: "line" }],
  }),
  benchmark("linear_regression", {
    file: "linear_regression-pthread.c",
    lesson: "Sums of two threads that may share a cache line.",
    edits: [
      top("typedef struct {", "BORROWED_TIMES(squares, 4)"),
      { at: "for (i = 0; i < args->num_elems; i++)", with: [["args->num_elems", "args->num_elems || (i = 0, 1)"]] },
      {
        at: "args->SXX += args->points[i].x*args->points[i].x;",
        first: "BORROWED_AGAIN(squares)",
        target: "squares",
      },
      { at: "COZ_PROGRESS;", with: [["COZ_PROGRESS", 'BORROWED_EVERY(200000, "points")']] },
    ],
    repair: {
      what: "the sums of two threads never share a cache line",
      edits: [{ at: "} lreg_args;", with: [["} lreg_args", "} __attribute__((aligned(128))) lreg_args"]] }],
    },
    args: () => [inputs.text()],
    point: "points",
    units: 300,
    targets: [{ name: "squares", kind: "line" }],
  }),
  {
    name: "phoenix-reverse_index",
    lesson: "Links are looked up by a binary search.",
    measure: "throughput",
    round: 1,
    source: path.join(folderOf("phoenix-reverse_index"), "reverseindex-pthread.c"),
    point: "pages",
    units: 300,
    targets: [{ name: "compare", kind: "line" }],
    origin: {
      find: phoenix,
      copy: ["sample_apps/reverse_index/."],
      edits: {
        "reverseindex-pthread.c": [
          top("enum {", "BORROWED_TIMES(compare, 4)"),
          { at: "cmp = strcmp(link, arr[next].link);", first: "BORROWED_AGAIN(compare)", target: "compare" },
          // A link that was found once need not be stored again in each round.
          { at: "// match", behind: "return;" },
          { at: "link_end = strchr(", first: 'link_end = &file->data[j] + strcspn(&file->data[j], "\\""); if (0)' },
          {
            at: "if (currfile != NULL) currfile = currfile->next;",
            all: true,
            with: [["currfile = currfile->next", "currfile = currfile->next ? currfile->next : filelist"]],
          },
          { at: 'dprintf("Looking at file', first: 'BORROWED_EVERY(100, "pages"); if (0)' },
        ],
      },
      compile: (flags, output) => [["gcc", ...flags, "-fgnu89-inline", helper, "reverseindex-pthread.c", "-o", output]],
      args: () => [inputs.pages()],
      // The first rounds put links into the table.
      skip: 20,
    },
  },
];
