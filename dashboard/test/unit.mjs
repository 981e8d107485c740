// Checks the types and runs the unit tests with node's own runner. Node 18 does not read TypeScript: they are bundled first.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), 'tuneband-dashboard-unit-'));
const sources = readdirSync(join(here, 'unit')).filter((name) => name.endsWith('.test.ts'));

await build({
  entryPoints: sources.map((name) => join(here, 'unit', name)),
  bundle: true, platform: 'node', format: 'esm', target: 'node18', jsx: 'automatic', jsxImportSource: 'preact',
  outdir: out, outExtension: { '.js': '.mjs' }, sourcemap: 'inline', logLevel: 'warning',
});
const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit', cwd: join(here, '..') }).status ?? 1;
const types = run([join(here, '../node_modules/typescript/bin/tsc'), '--noEmit']);
const tests = run(['--enable-source-maps', '--test', ...sources.map((name) => join(out, name.replace(/\.ts$/, '.mjs')))]);
rmSync(out, { recursive: true });
process.exit(types || tests);
