// For work on the dashboard: builds it, serves it, and passes everything else on to a running server.
//   node dev.mjs [--server http://127.0.0.1:7070] [--port 7080]
// Reload the page after a change: it is built anew for each load of the page.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../build/dashboard');
const { values } = parseArgs({
  options: { server: { type: 'string', default: 'http://127.0.0.1:7070' }, port: { type: 'string', default: '7080' } },
});
const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', html: 'text/html' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function sendFile(name, reply) {
  const body = readFileSync(join(out, name));
  reply.writeHead(200, { 'Content-Type': types[name.split('.').at(-1)], 'Content-Security-Policy': policy });
  reply.end(body);
}

function passOn(request, reply) {
  const headers = { ...request.headers };
  delete headers.host; // the server answers to its own name alone
  delete headers.origin;
  delete headers['sec-fetch-site'];
  const passed = http.request(new URL(request.url, values.server), { method: request.method, headers }, (answer) => {
    reply.writeHead(answer.statusCode, answer.headers);
    reply.flushHeaders(); // a stream may have nothing to say for a while
    answer.on('error', () => reply.destroy()); // the server went
    answer.pipe(reply);
  });
  passed.on('error', () => reply.destroy());
  reply.on('close', () => passed.destroy());
  request.pipe(passed);
}

http
  .createServer((request, reply) => {
    if (request.url === '/') {
      spawnSync(process.execPath, [join(here, 'build.mjs'), '--readable'], { stdio: 'inherit' });
      return sendFile('index.html', reply);
    }
    const asset = /^\/assets\/([\w.-]+)$/.exec(request.url);
    if (asset) return sendFile(asset[1], reply);
    passOn(request, reply);
  })
  .listen(Number(values.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${values.port} with ${values.server}`));
