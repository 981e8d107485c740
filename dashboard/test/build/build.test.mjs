// How the dashboard is built, and what is there without it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';
import { Server } from '../browser/harness.mjs';

const dashboard = join(dirname(fileURLToPath(import.meta.url)), '../..');
const bin = process.env.TUNEBAND_BIN_DIR;
const nowhere = 'http://127.0.0.1:9'; // where no registry is
const scratch = mkdtempSync(join(tmpdir(), 'tuneband-dashboard-build-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

// `install` in a copy.
function install(name, environment) {
  const copy = join(scratch, name);
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'install']) cpSync(join(dashboard, file), join(copy, file));
  const env = { ...process.env, ...environment };
  return { copy, ...spawnSync(join(copy, 'install'), { env, encoding: 'utf8' }) };
}

test('without npm\'s cache and without a registry the build says what to do', () => {
  const { status, stderr, copy } = install('empty', { npm_config_cache: join(scratch, 'no-cache'), npm_config_registry: nowhere, npm_config_fetch_retries: '0' });
  assert.equal(status, 1);
  assert.match(stderr, /can be had neither from npm's cache nor from a registry/);
  assert.match(stderr, /-DTUNEBAND_DASHBOARD=OFF/);
  assert.ok(!existsSync(join(copy, 'node_modules/.package-lock.json')));
});

const cached = (name) => spawnSync('npm', ['cache', 'ls', name], { encoding: 'utf8' }).stdout.trim() !== '';
const { packages } = JSON.parse(readFileSync(join(dashboard, 'package-lock.json'), 'utf8'));

test('npm\'s cache is enough', { skip: cached(`preact@${packages['node_modules/preact'].version}`) ? false : 'the packages were not installed through the cache' }, () => {
  const { status, stderr, copy } = install('filled', { npm_config_offline: 'true' });
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(join(copy, 'node_modules/preact/package.json')));
});

test('the lock file names no registry, and each package by its hash', () => {
  for (const [path, one] of Object.entries(packages)) {
    if (path === '') continue;
    assert.equal(one.resolved, undefined, path);
    assert.match(one.integrity, /^sha512-/, path);
  }
});

test('a build without the dashboard asks for neither node nor npm', () => {
  const build = join(scratch, 'without');
  const args = ['-S', join(dashboard, '..'), '-B', build, '-G', 'Ninja', '-DTUNEBAND_DASHBOARD=OFF', '-DCMAKE_BUILD_TYPE=Release'];
  execFileSync('cmake', args, { stdio: 'pipe' });
  const rules = readFileSync(join(build, 'build.ninja'), 'utf8');
  assert.match(rules, /no_dashboard\.cpp/);
  assert.doesNotMatch(rules, /build\.mjs|npm|node_modules/);
  assert.doesNotMatch(readFileSync(join(build, 'CMakeCache.txt'), 'utf8'), /^(NODE|NPM):/m);
});

test('a server without the dashboard says so at its address, and a report says why there is none', async () => {
  const server = new Server(bin, { workers: 0, program: process.env.TUNEBAND_SERVER_WITHOUT });
  await server.start();
  try {
    const page = await fetch(`${server.url}/`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type'), /^text\/plain/);
    assert.match(await page.text(), /built without its dashboard \(TUNEBAND_DASHBOARD=OFF\)/);
    assert.equal((await fetch(`${server.url}/openapi.json`)).status, 200);
    await server.call('POST', '/v1/jobs?preflight=off', {
      name: 'one', objective: { metric: 'loss', goal: 'minimize' }, search_space: { x: { type: 'float', min: 0, max: 1 } },
      trainer: { type: 'command', argv: ['true'], metrics: [{ name: 'loss', regex: 'loss=(.*)' }], resource_regex: 'step=(\\d+)' },
      scheduler: { type: 'none', max_resource: 1 }, limits: { max_trials: 1 },
    });
    const report = spawnSync(join(bin, 'tuneband'), ['--server', server.url, 'report', 'one', '-o', join(scratch, 'report.html')], { encoding: 'utf8' });
    assert.notEqual(report.status, 0);
    assert.match(report.stderr, /built without its dashboard/);
  } finally {
    await server.close();
  }
});
