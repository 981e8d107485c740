// The dashboard of a server that has a token: asked for once in a browser's session, and again when the server was started anew.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { commandJob } from './documents.mjs';
import { openBrowser, openPage, proxyBelow, Server, violationsOf } from './harness.mjs';

const token = 'a-token-of-these-tests';
const server = new Server(process.env.TUNEBAND_BIN_DIR, { token });
let browser;

before(async () => {
  await server.start();
  await server.call('POST', '/v1/jobs', commandJob('guarded'));
  await server.waitForEnd('guarded');
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await server.close();
});

const heading = (page) => page.getByRole('heading', { name: 'This server wants its token' });

async function show(page, text) {
  await heading(page).waitFor();
  await page.getByLabel('Token', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Go on' }).click();
}

const cookies = async (page) => (await page.context().cookies()).map(({ name, path, httpOnly, sameSite }) => ({ name, path, httpOnly, sameSite }));

test('the token is asked for once, and then pages, live updates and downloads go on without it', async () => {
  const { page, faults, at } = await openPage(browser, server);
  await page.goto(at('#/jobs/guarded/trials/0'));
  await heading(page).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.type), 'password');
  assert.deepEqual(await violationsOf(page), []);
  await show(page, `${token}x`);
  await page.getByRole('alert').filter({ hasText: 'this is not the server\'s token' }).waitFor();
  assert.deepEqual(await violationsOf(page), []);
  await show(page, ` ${token} `); // as it comes with a copy
  await page.getByRole('region', { name: 'Log of trial 0' }).filter({ hasText: 'step=1 loss=' }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download', exact: true }).click()]);
  assert.match(readFileSync(await file.path(), 'utf8'), /step=1 loss=/);
  assert.deepEqual(await cookies(page), [{ name: `tuneband-${server.port}`, path: '/v1', httpOnly: true, sameSite: 'Strict' }]);
  assert.ok(!JSON.stringify(await page.context().storageState()).includes(token), 'nothing keeps the token itself');

  await page.goto('about:blank');
  await page.goto(at('#/new'));
  await page.getByTestId('plan').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('seen-live');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.locator('.page-head .state', { hasText: 'completed' }).waitFor();
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('a session goes with its server: an open page asks for the token by itself, and then goes on', async () => {
  const { page, faults, at } = await openPage(browser, server);
  await page.goto(at(''));
  await show(page, token);
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  await server.kill('SIGTERM');
  await server.start();
  await show(page, token);
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('below a path of a proxy the session is for that path alone', async () => {
  const proxy = await proxyBelow('/tuning', server);
  const { page, faults, at } = await openPage(browser, proxy);
  await page.goto(at('#/jobs/guarded'));
  await show(page, token);
  await page.getByRole('heading', { name: 'guarded', exact: true }).waitFor();
  assert.deepEqual(await cookies(page), [{ name: `tuneband-${new URL(proxy.url).port}`, path: '/tuning/v1', httpOnly: true, sameSite: 'Strict' }]);
  assert.deepEqual(faults, []);
  await page.context().close();
  proxy.close();
});
