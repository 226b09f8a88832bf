// Bundles the interactive elements into book/_static and writes their SHA-256.
//
//   npm install --no-package-lock && npm run build
//   node build.mjs [static folder] [checksum file]
//
// The results are committed: building the book needs no Node.

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const staticFolder = process.argv[2] ?? join(here, "..", "_static");
const checksumFile = process.argv[3] ?? join(here, "SHA256SUMS");

async function minifiedCss(path) {
  const source = await readFile(path, "utf8");
  return (await esbuild.transform(source, { loader: "css", minify: true })).code;
}

/** Lets a script import a style sheet as a string, for its shadow root. */
const cssAsText = {
  name: "css-as-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: await minifiedCss(path),
      loader: "text",
    }));
  },
};

const ELEMENTS = ["attention-explorer", "position-lab", "shape-tracer", "residual-stream", "token-sampler", "model-card", "training-film"];

const bundle = await esbuild.build({
  absWorkingDir: here,
  entryPoints: ELEMENTS.map((name) => `${name}.js`),
  bundle: true,
  charset: "utf8",
  format: "iife",
  legalComments: "none",
  minify: true,
  outdir: "js", // names the results; nothing is written there
  plugins: [cssAsText],
  target: "es2020",
  write: false,
});

// page.css is written for one element; each has its own copy under its own name.
const pageCss = await minifiedCss(join(here, "page.css"));
const results = {};
for (const [i, name] of ELEMENTS.entries()) {
  results[`css/${name}.css`] = pageCss.replaceAll("course-element", name);
  results[`js/${name}.js`] = bundle.outputFiles[i].text;
}

const checksums = [];
for (const [name, text] of Object.entries(results)) {
  if (/<\/(script|style)/i.test(text)) {
    throw new Error(`${name} would end the tag it is inlined in`);
  }
  const path = join(staticFolder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  const sum = createHash("sha256").update(text).digest("hex");
  checksums.push(`${sum}  ../_static/${name}\n`);
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
}
await writeFile(checksumFile, checksums.join(""));
