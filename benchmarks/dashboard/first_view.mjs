// How long the dashboard takes with a large job: a real server, a job whose trials workers of this program report, a real browser.
//   node benchmarks/dashboard/first_view.mjs BIN_DIR [TRIALS=10000] [POINTS=100]
// Prints milliseconds from the page's start to its first view, of the large job and of one with 100 trials, the baseline; and how
// long a step of a brush takes to be drawn, the median and the worst.
import { openBrowser, openPage, Server } from '../../dashboard/test/browser/harness.mjs';

const [bin, trialsText = '10000', pointsText = '100'] = process.argv.slice(2);
const trials = Number(trialsText);
const points = Number(pointsText);
const workers = 16;
const rounds = 3;
const brushSteps = 40;

const document = (name, count) => ({
  name,
  objective: { metric: 'loss', goal: 'minimize' },
  search_space: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((parameter) => [parameter, { type: 'float', min: 0, max: 1 }])),
  sampler: { type: 'random', seed: 1 },
  trainer: { type: 'command', argv: ['true'], metrics: [{ name: 'loss', regex: 'loss=(.*)' }], resource_regex: 'step=(\\d+)' },
  scheduler: { type: 'none', max_resource: points },
  limits: { max_trials: count },
});

function exitOf(order) {
  const { a, b, c } = order.configuration;
  const end = (a - 0.3) ** 2 + 0.5 * (b - 0.6) ** 2 + 0.1 * c;
  const observations = Array.from({ length: points }, (_, index) => ({ resource: index + 1, metrics: { loss: end + (1 + c) / (index + 1) } }));
  return { epoch: order.epoch, observations, checkpoint_resource: points, training_ms: 10, exit: 'completed', message: '' };
}

// Until there is no more work.
async function work(server, name) {
  let status = null;
  for (;;) {
    const reply = await server.call('POST', `/v1/workers/${name}/sync`, { name, host: 'here', pid: 1, ...(status && { assignment: status }) });
    if (reply.desired === 'execute') status = exitOf(reply.order);
    else if (status) status = null;
    else return;
  }
}

async function firstView(browser, server, job) {
  const { page, faults } = await openPage(browser, server);
  await page.goto(`${server.url}/#/jobs/${job}`);
  await page.waitForFunction((count) => document.querySelector('[data-testid=shown-count]')?.textContent === `${count} trials`
    && document.querySelector('.canvas-box canvas')?.dataset.drawn, job === 'large' ? trials : 100, { polling: 'raf' });
  const ms = await page.evaluate(() => performance.now());
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { ms, page };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function brush(page, server) {
  await page.goto(`${server.url}/#/jobs/large/parameters`);
  const plot = page.getByRole('img', { name: /^Parallel coordinates/ });
  await plot.waitFor();
  await page.waitForFunction(() => document.querySelector('.canvas-box canvas')?.dataset.drawn);
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + 44, box.y + 60);
  await page.mouse.down();
  const times = [];
  for (let step = 1; step <= brushSteps; step += 1) {
    const begun = Date.now();
    const before = await page.evaluate(() => document.querySelector('.canvas-box canvas').dataset.drawn);
    await page.mouse.move(box.x + 44, box.y + 60 + step * 5);
    await page.waitForFunction((drawn) => document.querySelector('.canvas-box canvas').dataset.drawn !== drawn, before, { polling: 'raf' });
    times.push(Date.now() - begun);
  }
  await page.mouse.up();
  return times;
}

const server = new Server(bin, { workers: 0 });
await server.start();
const browser = await openBrowser();
try {
  for (const [name, count] of [['small', 100], ['large', trials]]) {
    await server.call('POST', '/v1/jobs?preflight=off', document(name, count));
    await Promise.all(Array.from({ length: workers }, (_, index) => work(server, `bench-${index}`)));
  }
  const found = { small: [], large: [] };
  let page;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['small', 'large']) {
      const view = await firstView(browser, server, name);
      found[name].push(view.ms);
      page = view.page;
    }
  }
  const [small, large] = [median(found.small), median(found.large)];
  console.log(`first view: ${Math.round(large)} ms with ${trials} trials, ${Math.round(small)} ms with 100; ratio ${(large / small).toFixed(2)}`);
  const steps = await brush(page, server);
  console.log(`a step of a brush, drawn: median ${median(steps)} ms, worst ${Math.max(...steps)} ms`);
} finally {
  await browser.close();
  await server.close();
}
