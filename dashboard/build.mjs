// Bundles the dashboard: `node build.mjs [--out DIR] [--readable]`. Files are named after what is in them, so that a browser may keep them for
// ever, but for index.html, which names them. Beside each lies its .gz, and dashboard_files.cpp and .S make them part of a program.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: join(here, '../build/dashboard') }, readable: { type: 'boolean', default: false } } });

const bundle = async (entry, options = {}) => {
  const { outputFiles } = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: !values.readable,
    write: false,
    target: ['es2022'],
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  return Buffer.from(outputFiles[0].contents);
};

const named = (name, extension, bytes) => `${name}-${createHash('sha256').update(bytes).digest('hex').slice(0, 10)}.${extension}`;

const script = await bundle('main.tsx');
const style = await bundle('style/style.css');
const icon = readFileSync(join(here, 'src/icon.svg'));
const files = new Map([
  [named('dashboard', 'js', script), script],
  [named('dashboard', 'css', style), style],
  [named('icon', 'svg', icon), icon],
]);
const [scriptName, styleName, iconName] = files.keys();
// Relative, as all that the page asks for: a proxy may have the server below a path of its own.
const page = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace('@script@', `assets/${scriptName}`)
  .replace('@style@', `assets/${styleName}`)
  .replace('@icon@', `assets/${iconName}`);
files.set('index.html', Buffer.from(page));
files.set('report.json', Buffer.from(JSON.stringify(report())));

mkdirSync(values.out, { recursive: true });
let zipped = 0;
for (const [name, bytes] of files) {
  const packed = gzipSync(bytes, { level: 9 });
  zipped += packed.length;
  writeFileSync(join(values.out, name), bytes);
  writeFileSync(join(values.out, `${name}.gz`), packed);
}
writeFileSync(join(values.out, 'dashboard_files.S'), assembly([...files.keys()]));
writeFileSync(join(values.out, 'dashboard_files.cpp'), table(files));
console.log(`dashboard: ${files.size} files, ${zipped} bytes compressed`);

// What `tuneband report` makes a page of: the page with everything in it but the job, and which of the server's answers the job is.
// A file has no server to send a policy: it has its own, which names the one script and the one style sheet that it has.
function report() {
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const inline = script.toString().replaceAll('</script', '<\\/script');
  const css = style.toString();
  const policy = `default-src 'none'; script-src ${hash(inline)}; style-src ${hash(css)}; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1">`;
  const data = '<script type="application/json" id="recorded">@recorded@</script>';
  return {
    routes: ['', '/summary', '/columns?trials_max=20000&digits=7', '/curves?points=40&trials_max=300', '/curves?points=100&trials_max=1500', '/decisions', '/importance', '/timeline', '/rules', '/findings'],
    trial_routes: ['', '/decisions', '/rules', '/findings', '/tensors?rank=0'],
    trials_max: 300, // the best, and as many in which a rule found something
    tensor_bytes_max: 8 * 1024 * 1024, // of curves of tensors, together
    surface_parameters_max: 5, // the most important ones, each against each other
    page: `<!doctype html>\n<html lang="en"><head>${head}<title>Tuneband</title><style>${css}</style></head><body><div id="app"></div>${data}<script type="module">${inline}</script></body></html>\n`,
  };
}

// The bytes, between labels.
function assembly(names) {
  const one = (label, file) => `.global ${label}\n${label}:\n.incbin "${join(values.out, file)}"\n.global ${label}_end\n${label}_end:\n.byte 0\n`;
  const parts = names.map((name, index) => one(`tuneband_dashboard_${index}`, name) + one(`tuneband_dashboard_${index}_gz`, `${name}.gz`));
  return `.section .rodata\n${parts.join('')}.section .note.GNU-stack,"",%progbits\n`;
}

function table(all) {
  const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml', json: 'application/json', html: 'text/html; charset=utf-8' };
  const labels = [...all.keys()].flatMap((_, index) => [`tuneband_dashboard_${index}`, `tuneband_dashboard_${index}_gz`]);
  const rows = [...all].map(([name, bytes], index) => {
    const type = types[name.split('.').at(-1)];
    const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const at = (label) => `between(${label}, ${label}_end)`;
    return `      {"${name}", "${type}", ${at(`tuneband_dashboard_${index}`)}, ${at(`tuneband_dashboard_${index}_gz`)}, "\\"${tag}\\""},`;
  });
  return `// Made by dashboard/build.mjs.
#include "server/api/dashboard_files.hpp"

extern "C" {
${labels.map((label) => `extern const char ${label}[];\nextern const char ${label}_end[];`).join('\n')}
}

namespace tuneband::server {

namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

std::span<const DashboardFile> dashboard_files() {
  static const DashboardFile kFiles[] = {
${rows.join('\n')}
  };
  return kFiles;
}

}  // namespace tuneband::server
`;
}
