// A real server on a data directory of its own, and a real browser that looks at it.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Server {
  // `token`: that it wants to be shown; '': it has none.
  constructor(bin, { workers = 2, program = join(bin, 'tuneband-server'), token = '' } = {}) {
    this.program = program;
    this.workers = workers;
    this.token = token;
    this.dir = mkdtempSync(join(tmpdir(), 'tuneband-dashboard-'));
    this.port = 0;
  }

  // On the same port again after the first time, as a page that is open expects.
  async start() {
    const args = ['--port', String(this.port), '--data-dir', this.dir, '--workers', String(this.workers), '--end-with-parent', '--log-level', 'warning'];
    if (this.token) {
      const file = join(this.dir, 'token');
      writeFileSync(file, this.token, { mode: 0o600 });
      args.push('--token-file', file);
    }
    this.process = spawn(this.program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.url = await new Promise((resolve, reject) => {
      let out = '';
      this.process.stdout.setEncoding('utf8').on('data', (piece) => {
        out += piece;
        const found = /http:\/\/[^\s/]+/.exec(out);
        if (found) resolve(found[0]);
      });
      this.ended.then((code) => reject(new Error(`the server ended with ${code}: ${out}`)));
    });
    this.port = Number(new URL(this.url).port);
  }

  async kill(signal = 'SIGKILL') {
    this.process.kill(signal);
    await this.ended;
  }

  async close() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill('SIGTERM');
    rmSync(this.dir, { recursive: true, force: true });
  }

  async call(method, path, body) {
    const headers = { ...this.shown(), ...(body && { 'Content-Type': 'application/json' }) };
    const reply = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  shown() { return this.token ? { Authorization: `Bearer ${this.token}` } : {}; }

  // Until the job has ended, told by its own event stream.
  async waitForEnd(job) {
    const reply = await fetch(`${this.url}/v1/jobs/${job}/events`, { headers: this.shown() });
    for await (const piece of reply.body) void piece; // the stream ends after the job's end
    return this.call('GET', `/v1/jobs/${job}`);
  }
}

// A proxy that has the server below a path of its own, and passes on Host: its `url` and `close`.
export async function proxyBelow(path, server) {
  const proxy = http.createServer((request, reply) => {
    if (!request.url.startsWith(`${path}/`)) return reply.writeHead(404).end();
    const passed = http.request(server.url + request.url.slice(path.length), { method: request.method, headers: request.headers }, (answer) => {
      reply.writeHead(answer.statusCode, answer.headers);
      reply.flushHeaders();
      answer.on('error', () => reply.destroy()).pipe(reply);
    });
    passed.on('error', () => reply.destroy());
    reply.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const close = () => { proxy.closeAllConnections(); proxy.close(); };
  return { url: `http://127.0.0.1:${proxy.address().port}${path}`, close };
}

const chromiumFlags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update'];

// What axe finds wrong with a page.
export async function violationsOf(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run();
    return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
  });
}

export async function openBrowser() {
  return chromium.launch({ executablePath: process.env.TUNEBAND_CHROMIUM || '/usr/bin/chromium', args: chromiumFlags });
}

// A page whose every fault is a fault of the test: exceptions, breaches of the policy, requests to anyone but the server.
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  context.setDefaultTimeout(180_000); // only what hangs: a busy machine takes several times as long as a quiet one
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url())) faults.push(`foreign request: ${request.url()}`);
  });
  return { page, faults, at: (hash) => `${server.url}/${hash}` };
}
