// Bundles the front end: static/src/*.js and static/css/app.css into static/dist, with hashes in
// the names and a manifest that `{% static "app.js" %}` reads. Sub-folders of static/src hold
// modules of those entries; static/img is copied as it is.

import { cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, "dist");
// Built beside the old files and moved into place at the end: a running server never sees half.
const fresh = path.join(root, "dist.new");

async function entries() {
  const sources = path.join(root, "src");
  const names = existsSync(sources) ? await readdir(sources) : [];
  const scripts = names.filter((name) => /\.(js|ts)$/.test(name) && !/\.test\./.test(name));
  const styles = ["css/app.css"].filter((name) => existsSync(path.join(root, name)));
  return [...scripts.map((name) => path.join(sources, name)), ...styles.map((name) => path.join(root, name))];
}

function manifest(outputs) {
  const names = {};
  for (const [file, output] of Object.entries(outputs)) {
    if (!output.entryPoint) continue;
    const logical = path.basename(output.entryPoint).replace(/\.ts$/, ".js");
    names[logical] = path.basename(file);
  }
  return names;
}

await rm(fresh, { recursive: true, force: true });
await mkdir(fresh);
const result = await build({
  absWorkingDir: root,
  entryPoints: await entries(),
  outdir: fresh,
  entryNames: "[name]-[hash]",
  chunkNames: "chunk-[hash]",
  assetNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  sourcemap: "linked",
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
  loader: { ".svg": "file", ".woff2": "file" },
});
const names = manifest(result.metafile.outputs);
if (existsSync(path.join(root, "img"))) {
  await cp(path.join(root, "img"), path.join(fresh, "img"), { recursive: true });
  for (const name of await readdir(path.join(root, "img"))) names[`img/${name}`] = `img/${name}`;
}
await writeFile(path.join(fresh, "manifest.json"), JSON.stringify(names, null, 1) + "\n");
await rm(dist, { recursive: true, force: true });
await rename(fresh, dist);
console.log(`Front end built: ${Object.keys(names).sort().join(", ") || "nothing to bundle"}`);
