// How long the dashboard takes with a large job: a real server, a job whose trials workers of this program report, a real browser.
//   node benchmarks/dashboard/first_view.mjs BIN_DIR [TRIALS=10000] [POINTS=100]
// Prints, of the large job and of one with 100 trials, the baseline: milliseconds from the page's start to its first view; the
// processor time of the server and of all of the browser's processes until then, which a busy machine does not stretch; and while
// an axis is brushed, how often a second it is drawn, and what a drawn step costs.
import { readFileSync } from 'node:fs';
import { openBrowser, openPage, Server } from '../../dashboard/test/browser/harness.mjs';
import { runLargeJob } from '../../dashboard/test/browser/large_jobs.mjs';

const [bin, trialsText = '10000', pointsText = '100'] = process.argv.slice(2);
const trials = Number(trialsText);
const points = Number(pointsText);
const rounds = 3;
const brushSteps = 180;
const settleMs = 1500;
const trialsInPage = 20_000; // of more, a choice is shown

// Milliseconds of processor time, of the server and of all of the browser's processes.
async function processorTime(browser, server) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const [user, system] = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(') ').at(-1).split(' ').slice(11, 13).map(Number);
  return { browser: 1000 * processInfo.reduce((sum, one) => sum + one.cpuTime, 0), server: 10 * (user + system) };
}

const drawnTimes = () => Number(document.querySelector('.canvas-box canvas')?.dataset.drawn ?? 0);

async function firstView(browser, server, job, count) {
  const { page, faults } = await openPage(browser, server);
  const before = await processorTime(browser, server);
  await page.goto(`${server.url}/#/jobs/${job}`);
  await page.waitForFunction((text) => document.querySelector('[data-testid=shown-count]')?.textContent.startsWith(text)
    && document.querySelector('.canvas-box canvas')?.dataset.drawn, `${count}`, { polling: 'raf' });
  const ms = await page.evaluate(() => performance.now());
  const after = await processorTime(browser, server);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await page.context().close();
  return { ms, browser: after.browser - before.browser, server: after.server - before.server };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// Sweeps along the first axis, a step each 16 ms.
async function brush(browser, server, job) {
  const { page } = await openPage(browser, server);
  await page.goto(`${server.url}/#/jobs/${job}/parameters`);
  const plot = page.getByRole('img', { name: /^Parallel coordinates/ });
  await plot.waitFor();
  await page.waitForFunction(drawnTimes);
  await page.waitForTimeout(settleMs); // the views below are drawn
  const box = await plot.boundingBox();
  const [x, top] = [box.x + 44, box.y + 60];
  await page.mouse.move(x, top);
  await page.mouse.down();
  await page.evaluate(() => {
    const frames = [];
    globalThis.frameTimes = frames;
    const canvas = document.querySelector('.canvas-box canvas');
    let drawn = canvas.dataset.drawn;
    const look = (now) => {
      if (canvas.dataset.drawn !== drawn) frames.push(now);
      drawn = canvas.dataset.drawn;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const before = await processorTime(browser, server);
  const begun = performance.now();
  const moves = [];
  for (let step = 1; step <= brushSteps; step += 1) {
    moves.push(page.mouse.move(x, top + (step % 60) * 4 + 10));
    await new Promise((resolve) => { setTimeout(resolve, 16); });
  }
  await Promise.all(moves);
  const seconds = (performance.now() - begun) / 1000;
  const after = await processorTime(browser, server);
  const frames = await page.evaluate(() => globalThis.frameTimes);
  await page.mouse.up();
  await page.context().close();
  const gaps = frames.slice(1).map((time, index) => time - frames[index]);
  return { perSecond: frames.length / seconds, gap: median(gaps), worst: Math.max(...gaps), browser: (after.browser - before.browser) / frames.length };
}

const server = new Server(bin, { workers: 0 });
await server.start();
const browser = await openBrowser();
const whole = (number) => Math.round(number);
try {
  const jobs = [['small', 100], ['large', trials]];
  for (const [name, count] of jobs) {
    await runLargeJob(server, name, count, points);
  }
  const found = { small: [], large: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, count] of jobs) found[name].push(await firstView(browser, server, name, Math.min(count, trialsInPage)));
  }
  for (const [name, count] of jobs) {
    const of = (what) => median(found[name].map((one) => one[what]));
    console.log(`first view of ${count} trials: ${whole(of('ms'))} ms; processor time ${whole(of('browser'))} ms in the browser, ${whole(of('server'))} ms in the server`);
  }
  const ratio = median(found.large.map((one) => one.ms)) / median(found.small.map((one) => one.ms));
  console.log(`ratio ${ratio.toFixed(2)}`);
  for (const [name, count] of jobs) {
    const { perSecond, gap, worst, browser: cost } = await brush(browser, server, name);
    console.log(`brush over ${count} trials: drawn ${whole(perSecond)} times a second, ${whole(gap)} ms apart (worst ${whole(worst)}); processor time ${whole(cost)} ms each`);
  }
} finally {
  await browser.close();
  await server.close();
}
