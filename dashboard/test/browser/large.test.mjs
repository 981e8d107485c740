// A job of 10,000 trials in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openPage, Server } from './harness.mjs';
import { runLargeJob } from './large_jobs.mjs';

const trials = 10_000;
const server = new Server(process.env.TUNEBAND_BIN_DIR, { workers: 0 });
let browser;

before(async () => {
  await server.start();
  await runLargeJob(server, 'large', trials, 2);
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await server.close();
});

test('ten thousand trials are shown, brushed, filtered and told one by one', async () => {
  const { page, faults } = await openPage(browser, server);
  const count = (text) => page.getByTestId('shown-count').filter({ hasText: text }).waitFor();
  await page.goto(`${server.url}/#/jobs/large/parameters`);
  await count(/^10000 trials$/);
  const plot = page.getByRole('img', { name: /^Parallel coordinates/ });
  await page.waitForFunction(() => document.querySelector('.canvas-box canvas')?.dataset.drawn);
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + 44, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 44, box.y + 200, { steps: 10 });
  await page.mouse.up();
  await count(/^\d+ of 10000 trials$/);
  await page.goto(`${server.url}/#/jobs/large/table?filter=${encodeURIComponent('objective < 0.6 and a > 0.2')}`);
  await count(/^\d+ of 10000 trials$/);
  assert.ok(await page.locator('.row:not(.head)').count() < 100, 'only the rows in sight are in the page');
  await page.goto(`${server.url}/#/jobs/large/timeline`); // more segments than there is room for
  await page.getByText(/\d+ segments are too short to be told apart/).waitFor();
  const { merged, trial } = await server.call('GET', '/v1/jobs/large/timeline');
  assert.ok(merged > 0 && trial.length <= 5000, `${merged} in ${trial.length} cells`);
  await page.getByRole('img', { name: /^Workers over time: 10000 segments on 16 workers, 0 failed/ }).waitFor();
  await page.goto(`${server.url}/#/jobs/large?sel=9999`);
  await page.getByRole('complementary', { name: 'Selected trials' }).getByRole('link', { name: 'Trial 9999' }).waitFor();
  assert.deepEqual(faults, []);
});
