// The dashboard as a person meets it: a real server, real workers, a real browser, the real content security policy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { commandJob, hostileJob, markup, savingJob } from './documents.mjs';
import { openBrowser, openPage, proxyBelow, Server, violationsOf } from './harness.mjs';

const bin = process.env.TUNEBAND_BIN_DIR;
const server = new Server(bin);
let browser;
let page;
let faults;
let at;

before(async () => {
  await server.start();
  browser = await openBrowser();
  ({ page, faults, at } = await openPage(browser, server));
});

after(async () => {
  await browser?.close();
  await server.close();
});

function noFaults() {
  assert.deepEqual(faults.splice(0), []);
}

// Until the page has heard of it: nothing of the page before is met any more.
async function open(hash) {
  const here = new URL(page.url());
  const there = new URL(at(hash));
  if (here.origin !== there.origin || here.hash === there.hash) {
    await page.goto(there.href);
    return;
  }
  await page.evaluate((next) => new Promise((resolve) => {
    window.addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(resolve)), { once: true });
    window.location.hash = next;
  }), there.hash);
}

async function expectAccessible(where) {
  assert.deepEqual(await violationsOf(page), [], where);
}

// All canvases in the window were drawn at least once.
const drawn = () => page.waitForFunction(() => {
  const canvases = [...document.querySelectorAll('.canvas-box canvas:first-child')].filter((canvas) => canvas.getBoundingClientRect().top < window.innerHeight);
  return document.querySelector('.canvas-box canvas') !== null && canvases.every((canvas) => Number(canvas.dataset.drawn ?? 0) > 0);
});

test('what was wrong with an attempt is not said of the next one while that is under way', async () => {
  await open('');
  const fault = page.getByRole('alert').filter({ hasText: 'the server does not answer' });
  const attempt = async () => {
    const held = new Promise((resolve) => { void page.route('**/v1/jobs?base_dir=*', resolve, { times: 1 }); });
    await page.getByRole('button', { name: 'Run the example' }).click();
    return held;
  };
  await (await attempt()).abort('connectionreset');
  await fault.waitFor();
  const next = await attempt();
  await fault.waitFor({ state: 'detached' });
  await next.abort('connectionreset');
  await fault.waitFor();
  noFaults();
});

test('an empty server shows how to begin, and its example runs live to its end', async () => {
  await open('');
  await page.getByRole('heading', { name: 'No job yet' }).waitFor();
  await expectAccessible('empty home');
  await page.getByRole('button', { name: 'Run the example' }).click();
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  const counts = new Set();
  await page.exposeFunction('seen', (text) => { counts.add(text); });
  await page.evaluate(() => {
    new MutationObserver(() => window.seen(document.querySelector('[data-testid=shown-count]')?.textContent ?? '')).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.locator('.page-head .state', { hasText: 'completed' }).waitFor();
  assert.ok(counts.size > 3, `trials came one by one: ${[...counts].join('; ')}`);
  const job = await server.call('GET', '/v1/jobs/example');
  await page.getByTestId('shown-count').filter({ hasText: `${job.trials.created} trials` }).waitFor();
  await page.getByTestId('best-value').filter({ hasText: String(Number(job.best.value.toPrecision(6))) }).waitFor();
  noFaults();
});

test('every view of a job is drawn and accessible, in both themes', async () => {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const view of ['', 'curves', 'rungs', 'parameters', 'tradeoffs', 'timeline', 'table', 'document']) {
      await open(`#/jobs/example/${view}?sel=3,4`);
      await page.getByTestId(`view-${view || 'overview'}`).waitFor();
      await page.getByTestId('why').waitFor();
      if (view !== 'table' && view !== 'document') await drawn();
      if (view === '' || scheme === 'light') await expectAccessible(`${view || 'overview'}, ${scheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  noFaults();
});

test('two parameters stand before the surface of the model, which tells its mean under the pointer', async () => {
  await open('#/jobs/example/parameters');
  await page.getByText(/Behind them the model's mean/).waitFor();
  const plot = page.getByRole('img', { name: /^Two parameters/ });
  await plot.scrollIntoViewIfNeeded();
  await drawn();
  const box = await plot.boundingBox();
  const told = async () => {
    for (let step = 0; step < 40; step += 1) { // a place where no trial is near
      await page.mouse.move(box.x + 80 + 11 * step, box.y + 60 + 4 * step);
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      const text = await page.locator('.tip').textContent({ timeout: 1000 }).catch(() => '');
      if (text.startsWith('model:')) return text;
    }
    return 'nothing of the model';
  };
  assert.match(await told(), /^model: .+ ± .+[xy] .+[xy] /);
  noFaults();
});

test('a trial shows its segments, with who trained them and how they ended', async () => {
  const trial = (await server.call('GET', '/v1/jobs/example/trials?state=completed&limit=1')).trials[0];
  await open(`#/jobs/example/trials/${trial.number}`);
  const region = page.getByRole('region', { name: 'Segments of the trial' });
  await region.waitFor();
  const segments = await server.call('GET', `/v1/jobs/example/trials/${trial.number}/segments`);
  assert.equal(await region.locator('tbody tr').count(), segments.trial.length);
  await region.getByText('completed').waitFor();
  noFaults();
});

test('a trial lists its files, and one is saved', async () => {
  const trial = (await server.call('GET', '/v1/jobs/example/trials?state=completed&limit=1')).trials[0];
  await open(`#/jobs/example/trials/${trial.number}`);
  const files = page.getByRole('region', { name: 'Files of the trial' });
  await files.getByRole('link', { name: 'log.txt' }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), files.getByRole('link', { name: 'checkpoint/step' }).click()]);
  assert.equal(download.suggestedFilename(), 'checkpoint-step');
  assert.equal(readFileSync(await download.path(), 'utf8'), '27');
  await expectAccessible('a trial');
  noFaults();
});

test('notes on a job and on a trial are written, kept, told to other pages, and never markup', async () => {
  const other = await openPage(browser, server);
  await server.call('POST', '/v1/jobs', commandJob('noted', { pause: 0.3 }));
  await other.page.goto(other.at('#/jobs/noted'));
  await other.page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  await open('#/jobs/noted');
  await page.getByRole('button', { name: 'Add a note' }).click();
  await page.getByRole('textbox', { name: /^Note on the job/ }).fill(`läuft ${markup}`);
  await expectAccessible('a note that is written');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await page.getByRole('region', { name: 'Note on the job' }).filter({ hasText: markup }).waitFor();
  await other.page.getByRole('region', { name: 'Note on the job' }).filter({ hasText: markup }).waitFor(); // by its events
  await open('#/jobs/noted/trials/0');
  await page.getByRole('button', { name: 'Add a note' }).click();
  await page.getByRole('textbox', { name: /^Note on trial 0/ }).fill('odd');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('region', { name: 'Note on trial 0' }).filter({ hasText: 'odd' }).waitFor();
  assert.equal((await server.call('GET', '/v1/jobs/noted/trials/0')).note, 'odd');
  await open(`#/jobs/noted/table?filter=${encodeURIComponent('note ~ odd')}`);
  await page.getByTestId('shown-count').filter({ hasText: /^1 of/ }).waitFor();
  await page.getByRole('columnheader', { name: 'note' }).waitFor();
  await open('');
  await page.getByRole('row').filter({ hasText: 'noted' }).filter({ hasText: markup }).waitFor();
  await open('#/jobs/noted');
  await page.getByRole('button', { name: 'Edit the note' }).click();
  await page.getByRole('textbox', { name: /^Note on the job/ }).fill('x'.repeat(16 * 1024 + 1));
  await page.getByRole('button', { name: 'Save the note' }).click();
  await page.getByRole('alert').filter({ hasText: 'at most 16384 bytes' }).waitFor();
  await page.getByRole('textbox', { name: /^Note on the job/ }).fill('');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await page.getByRole('button', { name: 'Add a note' }).waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
  assert.deepEqual(other.faults, []);
  await other.page.context().close();
  await server.call('POST', '/v1/jobs/noted/stop');
  await server.waitForEnd('noted');
  noFaults();
});

// As in a window behind others, and in front again.
const seen = (state) => page.evaluate((now) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
  document.dispatchEvent(new Event('visibilitychange'));
}, state);

test('a note that another writes while nobody looks at the page is there when it is looked at again', async () => {
  await server.call('POST', '/v1/jobs', commandJob('rested', { pause: 0.3, limits: { max_trials: 300 } }));
  await open('#/jobs/rested/trials/0');
  await page.getByRole('heading', { name: 'Trial 0', exact: true }).waitFor();
  const write = (note) => server.call('PUT', '/v1/jobs/rested/trials/0/note', { note });
  const told = (note) => page.getByRole('region', { name: 'Note on trial 0' }).filter({ hasText: note }).waitFor();
  for (const [before, meanwhile] of [['one', 'two'], ['three', 'four']]) {
    await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
    await write(before);
    await told(before); // the page knows where its stream is
    await seen('hidden');
    await page.getByTestId('live').filter({ hasText: 'paused while nobody looks' }).waitFor();
    await write(meanwhile);
    await seen('visible');
    await told(meanwhile);
  }
  await server.call('POST', '/v1/jobs/rested/stop');
  await server.waitForEnd('rested');
  noFaults();
});

test('notes that another writes on a job that has ended come to its page and to the list, also those of a time in which nobody looked', async () => {
  await server.call('POST', '/v1/jobs', commandJob('done', { limits: { max_trials: 2 } }));
  await server.waitForEnd('done');
  const write = (of, note) => server.call('PUT', `/v1/jobs/done${of}/note`, { note });
  const listening = page.waitForResponse(/\/v1\/events\/stream\?job=/);
  await open('#/jobs/done/trials/0');
  await listening;
  const told = (note) => page.getByRole('region', { name: 'Note on trial 0' }).filter({ hasText: note }).waitFor();
  await write('/trials/0', 'seen');
  await told('seen');
  await seen('hidden');
  await write('/trials/0', 'unseen');
  await seen('visible');
  await told('unseen');
  await open('#/jobs/done');
  await write('', 'of the job');
  await page.getByRole('region', { name: 'Note on the job' }).filter({ hasText: 'of the job' }).waitFor();
  await open('');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  await write('', 'in the list');
  await page.getByRole('row').filter({ hasText: 'done' }).getByText('in the list').waitFor();
  noFaults();
});

test('a note that is being written on a trial stays while the job changes, and goes with its trial', async () => {
  await server.call('POST', '/v1/jobs', commandJob('written', { pause: 0.3, limits: { max_trials: 300 } }));
  await open('#/jobs/written/trials/0');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  await page.getByRole('button', { name: 'Add a note' }).click();
  const area = page.getByRole('textbox', { name: /^Note on trial 0/ });
  await area.fill('half a sen');
  await server.call('POST', '/v1/jobs/written/stop'); // the job's row changes, and the page is told
  await page.locator('.page-head .state', { hasText: /stopp/ }).first().waitFor();
  assert.equal(await area.inputValue(), 'half a sen');
  await page.getByRole('link', { name: 'next →' }).click();
  await page.getByRole('heading', { name: 'Trial 1', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Add a note' }).waitFor();
  await server.waitForEnd('written');
  noFaults();
});

test('home shows of each job its best so far as a line, how far it is, and what it waits for', async () => {
  const wide = commandJob('waits');
  wide.trainer.replicas = 9;
  await server.call('POST', '/v1/jobs', wide);
  await open('');
  await expectAccessible('home');
  const example = page.getByRole('row').filter({ hasText: 'example' });
  await example.getByRole('img', { name: /^best so far from [\d.]+ to [\d.]+$/ }).waitFor();
  const card = (await server.call('GET', '/v1/jobs?view=cards')).jobs.find((job) => job.name === 'waits');
  assert.notEqual(card.waits_for, '');
  await page.getByRole('row').filter({ hasText: 'waits' }).getByText(card.waits_for).waitFor();
  await server.call('POST', '/v1/jobs/waits/stop');
  await page.getByRole('row').filter({ hasText: 'waits' }).getByText('stopped', { exact: true }).waitFor();
  await server.call('DELETE', '/v1/jobs/waits');
  await page.getByRole('link', { name: 'waits', exact: true }).waitFor({ state: 'detached' });
  noFaults();
});

test('all workers over all jobs: bars lead to trials, and it is told why nothing ran', async () => {
  const job = await server.call('GET', '/v1/jobs/example');
  const [from, until] = [Date.parse(job.created_at), Date.parse(job.ended_at)];
  const openTime = (begin, end) => open(`#/workers?from=${new Date(begin).toISOString()}&until=${new Date(end).toISOString()}`);
  await openTime(from - 3_600_000, until);
  await drawn();
  const why = page.getByRole('region', { name: 'When nothing ran, with reasons' });
  await why.getByText(/No worker was there: local-\d came at/).waitFor();
  const plot = page.getByRole('img', { name: /^All workers over time/ });
  assert.match(await plot.getAttribute('aria-label'), /on 2 workers/);
  await expectAccessible('workers');
  await openTime(from, until);
  await page.getByRole('link', { name: 'example' }).waitFor();
  await drawn();
  await plot.focus(); // without a mouse
  await page.keyboard.press('ArrowRight');
  await page.locator('.tip').getByText(/^example, trial \d+ on local-\d$/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Trial \d+$/ }).waitFor();
  await page.goBack();
  await drawn();
  await page.getByRole('button', { name: 'Closer' }).click();
  await page.waitForFunction((before) => new URLSearchParams(location.hash.split('?')[1]).get('from') > before, new Date(from).toISOString());
  await page.goBack();
  await drawn();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Until now' }).waitFor();
  const swept = await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('from'));
  assert.ok(Date.parse(swept) > from + 0.2 * (until - from), swept);
  noFaults();
});

test('the last hour of a server that is younger begins with it', async () => {
  const first = Date.parse((await server.call('GET', '/v1/events?limit=1')).events[0].at);
  const asked = page.waitForRequest(/\/v1\/workers\/timeline/);
  await open('#/workers');
  const from = Date.parse(new URL((await asked).url()).searchParams.get('from'));
  assert.ok(Math.abs(from - first) < 60_000, `from ${from}, the server from ${first}`); // a minute is shown in any case
  noFaults();
});

test('a time that the server refuses stands beside the fault, with the way back', async () => {
  for (const [hash, back] of [['#/workers', 'Until now'], ['#/jobs/example/timeline', 'The whole job']]) {
    await open(`${hash}?from=-000001-01-01T00:00:00.000Z&until=2026-01-01T00:00:00.000Z`);
    await page.getByRole('alert').filter({ hasText: 'from' }).waitFor();
    await page.getByRole('button', { name: back }).click();
    await drawn();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  }
  noFaults();
});

test('home follows what happens without asking again and again', async () => {
  await open('');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  const asked = [];
  const note = (request) => { if (/\/v1\/jobs(\?|$)/.test(request.url())) asked.push(request.url()); };
  const whole = () => asked.filter((url) => !/[?&]ids=/.test(url)).length;
  page.on('request', note);
  await server.call('POST', '/v1/jobs', commandJob('followed', { limits: { max_trials: 3 } }));
  const row = page.getByRole('row').filter({ hasText: 'followed' });
  await row.locator('.state', { hasText: 'completed' }).waitFor();
  await server.waitForEnd('followed');
  assert.ok(whole() <= 3, `the list was asked for ${whole()} times`);
  const silence = () => page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 3000); })); // no event comes
  let before = asked.length;
  await silence();
  if (asked.length === before + 1) { // what came with the job's end and after its row
    before = asked.length;
    await silence();
  }
  assert.equal(asked.length, before);
  page.off('request', note);
  noFaults();
});

test('what is selected and filtered is in the address, and is there again after a reload', async () => {
  await open('#/jobs/example');
  await page.getByRole('row').nth(3).click();
  const selected = new URL(page.url()).hash.match(/sel=(\d+)/)?.[1];
  assert.ok(selected, page.url());
  await page.getByTestId('why').getByText(/Rung 0 of bracket/).first().waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('state = completed');
  await page.getByTestId('shown-count').filter({ hasText: /^\d+ of 27 trials$/ }).waitFor();
  await page.getByRole('columnheader', { name: 'x', exact: true }).getByRole('button').click();
  await page.waitForFunction(() => /sort=.*filter=|filter=.*sort=/.test(location.hash)); // it is written now and then
  await page.reload();
  await page.getByRole('button', { name: `Remove trial ${selected}` }).waitFor();
  await page.getByTestId('shown-count').filter({ hasText: /^\d+ of 27 trials$/ }).waitFor();
  const values = await page.locator('.row:not(.head)').evaluateAll((rows) => rows.map((row) => Number(row.children[6].title)));
  assert.deepEqual(values, [...values].sort((a, b) => a - b));
  await page.getByRole('searchbox', { name: 'Filter' }).fill('colour = red');
  await page.getByRole('alert').filter({ hasText: 'no column “colour”' }).waitFor();
  await page.getByTestId('shown-count').filter({ hasText: /^27 trials$/ }).waitFor();
  noFaults();
});

test('a brush on one axis is felt by every view, and a chip takes it away', async () => {
  await open('#/jobs/example/parameters');
  await drawn();
  const brush = async () => {
    const box = await page.getByRole('img', { name: /^Parallel coordinates/ }).boundingBox();
    await page.mouse.move(box.x + 44, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 44, box.y + 200, { steps: 5 });
    await page.mouse.up();
    await page.getByTestId('shown-count').filter({ hasText: /^\d+ of 27 trials$/ }).waitFor({ timeout: 5000 });
  };
  await brush().catch(brush); // what loads late may have moved the plot away from under the pointer
  await page.waitForFunction(() => /in\.x=0\.\d+(%7E|~)0\.\d+/.test(location.hash)); // it is written now and then
  await page.getByRole('link', { name: 'Trials' }).click();
  await page.getByTestId('view-table').waitFor();
  assert.ok(await page.locator('.row:not(.head)').count() < 27);
  await page.getByRole('button', { name: /^Remove x/ }).click();
  await page.getByTestId('shown-count').filter({ hasText: /^27 trials$/ }).waitFor();
  noFaults();
});

test('a page outlives the server: the loss is shown, and mended when it is back', async () => {
  await server.call('POST', '/v1/jobs', commandJob('restarted', { pause: 0.05 }));
  await open('#/jobs/restarted');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  await page.getByTestId('best-value').waitFor();
  await server.kill();
  await page.getByTestId('live').filter({ hasText: 'connection lost' }).waitFor();
  await server.start();
  await page.locator('.page-head .state', { hasText: 'completed' }).waitFor();
  const job = await server.call('GET', '/v1/jobs/restarted');
  await page.getByTestId('shown-count').filter({ hasText: `${job.trials.created} trials` }).waitFor();
  noFaults();
});

test('a view that the server did not answer comes when it is back, also of a job that has ended', async () => {
  await page.route('**/v1/jobs/*/timeline*', (route) => route.abort('connectionreset'), { times: 1 });
  await open('#/jobs/restarted/timeline');
  await page.getByRole('alert').filter({ hasText: 'the server does not answer' }).waitFor();
  await page.getByRole('img', { name: /^Workers over time/ }).waitFor();
  noFaults();
});

async function submitTrees(name, data = {}) {
  const rows = Array.from({ length: 200 }, (_, row) => `${row % 10},${row % 7},${row % 10 + row % 11 > 9 ? 1 : 0}`);
  writeFileSync(join(server.dir, 'rows.csv'), `a,b,y\n${rows.join('\n')}\n`);
  await server.call('POST', '/v1/jobs', {
    name,
    objective: { metric: 'validation-logloss', goal: 'minimize' },
    search_space: { eta: { type: 'float', min: 0.1, max: 0.9 } },
    trainer: { type: 'xgboost', data: { train: join(server.dir, 'rows.csv'), label: 'y', ...data }, parameters: { objective: 'binary:logistic' } },
    scheduler: { max_resource: 9 },
    limits: { max_trials: 6 },
  });
  await server.waitForEnd(name);
}

test('the best models of trees can be downloaded as one, and trained once more where rows were held out', async () => {
  await submitTrees('trees');
  await open('#/jobs/trees');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'The best models joined into one' }).click()]);
  assert.equal(download.suggestedFilename(), 'trees-ensemble.ubj');
  assert.match(readFileSync(await download.path(), 'latin1'), /tuneband_ensemble/);
  const refit = page.getByRole('link', { name: 'The same, trained once more on all rows' });
  const [trained] = await Promise.all([page.waitForEvent('download'), refit.click()]);
  assert.equal(trained.suggestedFilename(), 'trees-ensemble-refit.ubj');
  assert.match(readFileSync(await trained.path(), 'latin1'), /tuneband_ensemble.*refit/s);
  await submitTrees('folded', { folds: { count: 2 } });
  await open('#/jobs/folded');
  await page.getByRole('link', { name: 'The best models joined into one' }).waitFor();
  assert.equal(await refit.count(), 0, 'with folds each model was trained on all rows already');
  noFaults();
});

test('where each rung is a training of its own, learning curves say so', async () => {
  for (const [job, said] of [['trees', 1], ['example', 0]]) {
    await open(`#/jobs/${job}/curves`);
    await page.getByText(/Dotted lines are rungs/).waitFor();
    assert.equal(await page.getByText('Each rung is a training of its own').count(), said, job);
  }
  noFaults();
});

test('every view has the value that a trial keeps, as the best is told by it', async () => {
  const { trials } = await server.call('GET', '/v1/jobs/trees/trials');
  const trial = trials.find((one) => one.kept_value !== one.objective);
  const kept = String(Number(trial.kept_value.toPrecision(6)));
  for (const [view, plot] of [['tradeoffs', 'Quality against time'], ['parameters', 'Parallel coordinates'], ['parameters', 'eta']]) {
    await open(`#/jobs/trees/${view}`);
    await page.getByRole('button', { name: `Save ${plot}` }).click();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const row = page.getByRole('region', { name: plot }).getByRole('row').filter({ has: page.getByRole('cell', { name: String(trial.number), exact: true }) });
    await row.getByRole('cell', { name: kept, exact: true }).first().waitFor();
  }
  noFaults();
});

test('a page that saw a job to its end has the curves that another has which comes after it', async () => {
  const anew = commandJob('anew', { value: 'x + 1 / step + 1 / end', scheduler: { type: 'hyperband', min_resource: 9, max_resource: 81, eta: 3 } });
  anew.trainer.resume = 'restart'; // each rung is a training of its own, whose values are others
  await server.call('POST', '/v1/jobs', anew);
  await open('#/jobs/anew/curves');
  const table = async (one) => {
    await one.locator('.page-head .state', { hasText: 'completed' }).waitFor();
    await one.getByRole('button', { name: 'Save Learning curves' }).click();
    await one.getByRole('button', { name: 'Show as a table' }).click();
    await one.getByRole('region', { name: 'Learning curves, as a table' }).getByRole('row').nth(1).waitFor();
    return one.getByRole('region', { name: 'Learning curves, as a table' });
  };
  const seen = await table(page);
  const other = await openPage(browser, server);
  await other.page.goto(other.at('#/jobs/anew/curves'));
  const text = await (await table(other.page)).innerText();
  await page.waitForFunction(([region, expected]) => region.innerText === expected, [await seen.elementHandle(), text]);
  assert.deepEqual(other.faults, []);
  await other.page.context().close();
  noFaults();
});

test('what is typed into a field stays while the plan is made anew', async () => {
  await open('#/new');
  await page.getByTestId('plan').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('typed');
  const planned = page.waitForResponse(/\/v1\/plans/);
  const field = page.getByRole('textbox', { name: 'x: max' });
  await field.fill('12'); // leaves the name
  await planned;
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  assert.equal(await field.inputValue(), '12');
  noFaults();
});

test('a number that no forecast is made for is told at its field, and the document can be submitted all the same', async () => {
  await open('#/new');
  await page.getByTestId('plan').getByText('with 2 workers').waitFor();
  const asked = [];
  const note = (request) => { if (/\/v1\/plans/.test(request.url())) asked.push(request.url()); };
  page.on('request', note);
  for (const [label, texts, expected] of [
    ['Workers', ['1.5', '0', '-1', '', '10001'], 'expected a whole number from 1 to 10000'],
    ['Seconds a unit', ['20000000', '0', ''], 'expected a number above 0, at most 10000000'],
  ]) {
    const field = page.getByRole('spinbutton', { name: label, exact: true });
    for (const text of texts) {
      await field.fill(text);
      await page.getByRole('alert').filter({ hasText: expected }).waitFor();
      assert.equal(await field.inputValue(), text);
      assert.equal(await field.getAttribute('aria-invalid'), 'true');
    }
  }
  await expectAccessible('a forecast that is none');
  await page.getByRole('spinbutton', { name: 'Workers' }).fill('3');
  await page.getByTestId('plan').getByText('with 3 workers').waitFor();
  await page.getByRole('spinbutton', { name: 'Seconds a unit' }).fill('0.5');
  await page.getByRole('alert').waitFor({ state: 'detached' });
  assert.ok(await page.getByRole('button', { name: 'Submit' }).isEnabled());
  assert.deepEqual(asked.filter((url) => !/workers=[23]&seconds_per_unit=(1|0\.5)$/.test(url)), []);
  page.off('request', note);
  noFaults();
});

test('a plan that the server did not answer is asked for again', async () => {
  await page.route('**/v1/plans*', (route) => route.abort('connectionreset'), { times: 1 });
  await open('#/jobs/restarted');
  await open('#/new');
  await page.getByText('Nothing yet: the server does not answer.').waitFor();
  await page.getByTestId('plan').waitFor();
  noFaults();
});

test('a job like one whose environment is masked is planned and submitted with what it had', async () => {
  const first = commandJob('masked', { value: 'x + float(os.environ["OFFSET"])', limits: { max_trials: 2 } });
  first.trainer.environment = { OFFSET: '5' };
  await server.call('POST', '/v1/jobs', first);
  await server.waitForEnd('masked');
  for (const start of ['trial=0&mode=again', 'trial=0&mode=around', 'from=document']) {
    await open('');
    await open(`#/new?like=masked&${start}`);
    await page.getByTestId('plan').waitFor();
    assert.match(await page.getByRole('textbox', { name: 'Document' }).inputValue(), /"OFFSET": "\*{8}"/);
  }
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('heading', { name: 'masked-2' }).waitFor();
  assert.ok((await server.waitForEnd('masked-2')).best.value >= 5);
  noFaults();
});

test('what is typed into the filter stays while the trials of a job change', async () => {
  await server.call('POST', '/v1/jobs', commandJob('filtered', { pause: 0.02, limits: { max_trials: 60 } }));
  await open('#/jobs/filtered');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  const box = page.getByRole('searchbox', { name: 'Filter' });
  await box.pressSequentially('state = completed and ', { delay: 60 });
  await page.getByTestId('shown-count').filter({ hasText: / trials$/ }).waitFor();
  assert.equal(await box.inputValue(), 'state = completed and ');
  await server.call('POST', '/v1/jobs/filtered/stop');
  await server.waitForEnd('filtered');
  noFaults();
});

test('a parameter that is given the name of another keeps its own, and the form says so', async () => {
  await open('#/new');
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  const name = page.getByRole('textbox', { name: 'Name of parameter' });
  for (const [typed, said] of [['x', 'there is a parameter x'], ['', 'a parameter has one']]) {
    await name.fill(typed);
    await name.press('Tab');
    await page.getByRole('alert').getByText(`parameter keeps its name: ${said}`).waitFor();
    assert.equal(await name.inputValue(), 'parameter');
  }
  await name.fill('z');
  await name.press('Tab');
  await page.getByRole('textbox', { name: 'Name of z' }).waitFor();
  await page.getByText('keeps its name').waitFor({ state: 'detached' });
  noFaults();
});

test('a parameter\'s name stands whole in the form', async () => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await open('#/new');
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  await page.getByRole('textbox', { name: 'Name of parameter' }).fill('colsample_bylevel');
  await page.keyboard.press('Tab');
  const name = page.getByRole('textbox', { name: 'Name of colsample_bylevel' });
  const [text, room] = await name.evaluate((input) => [input.scrollWidth, input.clientWidth]);
  assert.ok(text <= room, `${text} pixels in ${room}`);
  await page.setViewportSize({ width: 1300, height: 900 });
  noFaults();
});

test('a form says its faults where they are while one types, and once they are mended one click submits', async () => {
  await open('#/new');
  await page.getByTestId('plan').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('from-form');
  const max = page.getByRole('textbox', { name: 'x: max' });
  await max.fill('-7');
  const fault = page.getByTestId('faults').getByRole('button', { name: 'search_space.x.max' });
  await fault.waitFor();
  assert.equal(await max.getAttribute('aria-invalid'), 'true');
  await fault.click();
  assert.equal(await page.evaluate(() => document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), '-7');
  await page.getByRole('textbox', { name: 'Name of y' }).fill('y z');
  await page.getByRole('button', { name: 'Submit' }).click(); // leaves the field
  await page.getByRole('alert').filter({ hasText: 'y z' }).first().waitFor();
  await expectAccessible('new job');
  await max.fill('2');
  await page.getByRole('textbox', { name: 'Name of y z' }).fill('y');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('heading', { name: 'from-form' }).waitFor();
  noFaults();
});

test('a job is stopped, and deleted only with its name typed', async () => {
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop the job' }).click();
  await page.locator('.page-head .state', { hasText: 'stopped' }).waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const confirm = page.getByRole('button', { name: 'Delete the job' });
  assert.ok(await confirm.isDisabled());
  await page.getByRole('textbox', { name: /Type from-form/ }).fill('from-form');
  await confirm.click();
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  await page.getByRole('link', { name: 'from-form' }).waitFor({ state: 'detached' });
  noFaults();
});

test('the page of a job that is deleted elsewhere says so, also when it has ended', async () => {
  await server.call('POST', '/v1/jobs', commandJob('elsewhere', { limits: { max_trials: 1 } }));
  await server.waitForEnd('elsewhere');
  const listening = page.waitForResponse(/\/v1\/events\/stream\?job=/);
  await open('#/jobs/elsewhere');
  await listening;
  await server.call('DELETE', '/v1/jobs/elsewhere');
  await page.getByRole('alert').filter({ hasText: 'the job elsewhere is not there any more: it was deleted' }).waitFor();
  noFaults();
});

test('below a path of a proxy a job is submitted, followed to its end, and its log and files are read', async () => {
  const proxy = await proxyBelow('/tuning', server);
  const { page, faults, at } = await openPage(browser, proxy);
  await page.goto(at('#/new'));
  await page.getByTestId('plan').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('proxied');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.locator('.page-head .state', { hasText: 'completed' }).waitFor();
  await page.goto(at('#/jobs/proxied/trials/0'));
  await page.getByRole('region', { name: 'Log of trial 0' }).filter({ hasText: 'step=1 loss=' }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download', exact: true }).click()]);
  assert.match(readFileSync(await file.path(), 'utf8'), /step=1 loss=/);
  assert.deepEqual(faults, []);
  await page.context().close();
  proxy.close();
});

test('many windows beside each other all follow a job, though a browser opens few connections', async () => {
  await server.call('POST', '/v1/jobs', commandJob('beside', { pause: 0.3, limits: { max_trials: 300 } }));
  const context = await browser.newContext();
  const pages = [];
  for (let window = 0; window < 8; window += 1) {
    pages.push(await context.newPage());
    await pages[window].goto(at('#/jobs/beside'));
    await pages[window].getByTestId('live').filter({ hasText: 'live' }).waitFor();
  }
  await pages[0].getByTestId('live').filter({ hasText: 'many windows are open' }).waitFor();
  await server.call('POST', '/v1/jobs/beside/stop');
  for (const one of pages) {
    await one.locator('.page-head .state', { hasText: 'stopped' }).waitFor();
    await one.getByTestId('live').waitFor({ state: 'detached' });
  }
  await context.close();
  noFaults();
});

test('one trial is stopped from its page, which says why, and its job goes on', async () => {
  await server.call('POST', '/v1/jobs', commandJob('goes-on', { pause: 0.4, scheduler: { type: 'none', max_resource: 9 } }));
  const { trials } = await server.call('GET', '/v1/jobs/goes-on/trials');
  await open(`#/jobs/goes-on/trials/${trials[0]?.number ?? 0}`);
  await page.getByRole('button', { name: 'Stop this trial' }).click();
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('button', { name: 'Stop this trial' }).click();
  await expectAccessible('stop a trial');
  await page.getByRole('button', { name: 'Stop the trial', exact: true }).click();
  await page.getByRole('region', { name: 'Why' }).getByText('stopped by the user on the way').waitFor();
  await page.getByRole('button', { name: 'Stop this trial' }).waitFor({ state: 'detached' });
  assert.equal((await server.call('GET', '/v1/jobs/goes-on')).state, 'running');
  await server.call('POST', '/v1/jobs/goes-on/stop');
  noFaults();
});

test('what the debugger saved and found is on the pages of trial and job while it runs, in both themes', async () => {
  await server.call('POST', '/v1/jobs', savingJob('saves', { pause: 0.4 }));
  await open('#/jobs/saves/trials/0');
  const rules = page.getByRole('region', { name: 'Rules' });
  await rules.getByText('in progress').first().waitFor();
  const found = rules.getByRole('listitem').filter({ hasText: 'exploding_tensor' });
  await found.getByText('issues found').waitFor(); // by its event
  await found.getByText('What helps:').waitFor();
  await found.getByText('NaN', { exact: true }).waitFor();
  await server.waitForEnd('saves');
  await rules.getByRole('listitem').filter({ hasText: 'overfit' }).getByText('not judged').waitFor();
  await rules.getByText(/but not what it needs: a metric .* on training data and, at the same step or later, on validation data/).waitFor();
  await rules.getByRole('listitem').filter({ hasText: 'still' }).getByText('no issues found').waitFor();
  await page.getByRole('img', { name: /^Tensor: losses\/train at 9 steps from 1 to 9, at last NaN; a rule found something at step 6$/ }).waitFor();
  await page.getByRole('button', { name: 'weights/fc1' }).click();
  await page.getByRole('combobox', { name: 'Reduction' }).selectOption('max');
  await page.getByRole('img', { name: /^Tensor: max of weights\/fc1 .*, at last 9$/ }).waitFor();
  await page.getByRole('textbox', { name: 'Beside trial' }).fill('1');
  await page.getByRole('textbox', { name: 'Beside trial' }).press('Tab');
  await page.getByText(/trial 0 as a line, trial 1 dashed/).waitFor();
  await page.waitForFunction(() => /tensor=weights%2Ffc1/.test(location.hash) && /beside=1/.test(location.hash));
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    await open(`#/jobs/saves/trials/0?tensor=losses%2Ftrain&beside=1&in=${scheme}`);
    await page.getByText(/trial 0 as a line, trial 1 dashed/).waitFor();
    await drawn();
    await expectAccessible(`a trial with tensors, ${scheme}`);
    await open('#/jobs/saves/debugger');
    await page.getByRole('region', { name: 'Findings', exact: true }).getByRole('link', { name: 'trial 1' }).waitFor();
    await page.getByText(/in 2 of 2 trials; in trial 0: `losses\/train` is NaN at step 6/).waitFor();
    await expectAccessible(`the debugger's view, ${scheme}`);
  }
  await open('#/jobs/saves/trials/0?tensor=losses%2Ftrain'); // nothing comes any more
  await drawn();
  await page.mouse.move(1, 1);
  await page.getByRole('img', { name: /^Tensor: / }).focus(); // without a mouse
  const told = (step) => page.locator('.tip').getByText(`steps: ${step}`, { exact: true });
  while (!(await told(1).isVisible())) { // before the first drawing there is nothing to go through
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    await told(1).waitFor({ timeout: 1000 }).catch(() => {});
  }
  for (const [key, step] of [['ArrowRight', 2], ['ArrowLeft', 1], ['ArrowLeft', 9]]) {
    await page.keyboard.press(key);
    await told(step).waitFor();
  }
  await page.keyboard.press('Escape');
  await page.locator('.tip').waitFor({ state: 'detached' });
  await page.emulateMedia({ colorScheme: 'light' });
  await open('#/jobs/saves');
  await page.getByText('exploding_tensor: issues found').waitFor();
  await page.getByRole('link', { name: 'What was found, and what helps' }).click();
  await page.getByRole('region', { name: 'Findings', exact: true }).getByRole('link', { name: 'trial 1' }).click();
  await page.getByRole('heading', { name: 'Trial 1', exact: true }).waitFor();
  await open('#/jobs/example');
  await page.getByRole('link', { name: 'Document' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Debugger' }).count(), 0, 'a job without a section debug');
  noFaults();
});

test('markup in names, values and logs is text, and values that are no numbers break nothing', async () => {
  await server.call('POST', '/v1/jobs', hostileJob());
  await server.waitForEnd('hostile');
  for (const view of ['', 'curves', 'rungs', 'parameters', 'tradeoffs']) {
    await open(`#/jobs/hostile/${view}?sel=0,1`);
    await page.getByTestId(`view-${view || 'overview'}`).waitFor();
    await drawn();
    assert.equal(await page.getByText('This part of the page failed').count(), 0, view);
  }
  await open('#/jobs/hostile/trials/0');
  await page.getByRole('region', { name: 'Log of trial 0' }).filter({ hasText: markup }).waitFor();
  await open(`#/jobs/${encodeURIComponent(markup.replaceAll('/', ''))}`);
  await page.getByRole('alert').filter({ hasText: /no (job|such)/ }).waitFor();
  assert.equal(await page.locator('img[src=x]').count(), 0);
  noFaults();
});

test('a job without trials, and one with one, are pages like any other', async () => {
  await server.call('POST', '/v1/jobs', commandJob('one', { limits: { max_trials: 1 }, scheduler: { type: 'none', max_resource: 1 } }));
  await server.waitForEnd('one');
  const wide = commandJob('none');
  wide.trainer.replicas = 9;
  await server.call('POST', '/v1/jobs', wide);
  for (const job of ['one', 'none']) {
    for (const view of ['', 'curves', 'parameters', 'rungs', 'table']) {
      await open(`#/jobs/${job}/${view}`);
      await page.getByTestId(`view-${view || 'overview'}`).waitFor();
      assert.equal(await page.getByText('This part of the page failed').count(), 0, `${job} ${view}`);
    }
  }
  await open('#/compare?jobs=example,restarted,none');
  await page.getByRole('cell', { name: 'restarted', exact: true }).waitFor();
  await expectAccessible('compare');
  noFaults();
});

test('jobs that run are compared live', async () => {
  await server.call('POST', '/v1/jobs', commandJob('slow', { pause: 0.1 }));
  await open('#/compare?jobs=example,slow');
  await page.getByTestId('live').filter({ hasText: 'live' }).waitFor();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'slow', exact: true }) });
  await row.getByText('running').waitFor();
  await row.getByText('completed').waitFor();
  const job = await server.call('GET', '/v1/jobs/slow');
  await row.getByText(String(Number(job.best.value.toPrecision(6)))).waitFor();
  const finding = await page.getByRole('img', { name: /^Best so far/ }).getAttribute('aria-label');
  assert.match(finding, /slow \d/);
  await page.getByTestId('live').waitFor({ state: 'detached' });
  noFaults();
});

test('of jobs that count other resources nothing is called by the name of one, and no more are compared than can be', async () => {
  const other = commandJob('epochs', { limits: { max_trials: 1 } });
  other.trainer.resource_name = 'epochs';
  await server.call('POST', '/v1/jobs', other);
  await server.waitForEnd('epochs');
  await open('#/compare?jobs=epochs,slow&cost=resource');
  await page.getByText('They count other resources').waitFor();
  await page.getByRole('button', { name: 'Save Best so far' }).click();
  await page.getByRole('button', { name: 'Show as a table' }).click();
  await page.getByRole('columnheader', { name: 'units spent' }).waitFor();
  await open('#/');
  const marks = page.getByRole('checkbox');
  for (let mark = 0; mark < 6; mark += 1) await marks.nth(mark).check();
  const compare = page.getByRole('button', { name: /^Compare \d jobs/ });
  assert.ok(await compare.isEnabled());
  await marks.nth(6).check();
  await page.getByText('6 at most').waitFor();
  assert.ok(await compare.isDisabled());
  noFaults();
});

test('a page tells times by the clock of the server, whatever the browser has', async () => {
  await server.call('POST', '/v1/jobs', commandJob('timed', { pause: 0.3, limits: { max_trials: 300 } }));
  for (const ahead of [-3_600_000, 3_600_000]) {
    const other = await openPage(browser, server);
    await other.page.addInitScript((ms) => { const now = Date.now; Date.now = () => now() + ms; }, ahead);
    await other.page.goto(other.at(''));
    await other.page.getByRole('row').filter({ hasText: 'timed' }).getByText(/for (\d+(\.\d+)? s|[1-9] min \d+ s)$/).waitFor();
    assert.deepEqual(other.faults, []);
    await other.page.context().close();
  }
  await server.call('POST', '/v1/jobs/timed/stop');
  await server.waitForEnd('timed');
  noFaults();
});

test('a report is one file that shows the job without a server', async () => {
  const file = join(server.dir, 'report.html');
  execFileSync(join(bin, 'tuneband'), ['--server', server.url, 'report', 'hostile', '-o', file]);
  const alone = await openPage(browser, { url: `file://${server.dir}` });
  await alone.page.goto(`file://${file}`);
  await alone.page.getByRole('heading', { name: 'hostile' }).waitFor();
  for (const view of ['rungs', 'curves', 'parameters', 'table']) {
    await alone.page.goto(`file://${file}#/jobs/hostile/${view}?sel=0`);
    await alone.page.getByTestId(`view-${view}`).waitFor();
    await alone.page.getByTestId('why').getByText(/Rung 0/).first().waitFor();
  }
  const surfaces = join(server.dir, 'surfaces.html');
  execFileSync(join(bin, 'tuneband'), ['--server', server.url, 'report', 'example', '-o', surfaces]);
  for (const pair of ['a=x&b=y', 'a=y&b=x']) {
    await alone.page.goto(`file://${surfaces}#/jobs/example/parameters?${pair}`);
    await alone.page.getByText(/Behind them the model's mean/).waitFor();
  }
  const watched = join(server.dir, 'watched.html');
  execFileSync(join(bin, 'tuneband'), ['--server', server.url, 'report', 'saves', '-o', watched]);
  await alone.page.goto(`file://${watched}#/jobs/saves/debugger`);
  await alone.page.getByRole('region', { name: 'Rules' }).getByText('issues found', { exact: true }).waitFor();
  await alone.page.getByRole('region', { name: 'Findings', exact: true }).getByRole('link', { name: 'trial 1' }).click();
  await alone.page.getByRole('img', { name: /^Tensor: losses\/train at 9 steps/ }).waitFor();
  await alone.page.getByRole('region', { name: 'Rules' }).getByText('What helps:').waitFor();
  await alone.page.goto(`file://${watched}#/jobs/saves/trials/1?tensor=weights%2Ffc1&beside=0`);
  await alone.page.getByText(/trial 1 as a line, trial 0 dashed/).waitFor();
  await alone.page.getByRole('img', { name: /^Tensor: mean of weights\/fc1 .*, at last \d/ }).waitFor();
  assert.equal(await alone.page.getByRole('button', { name: 'Delete' }).count(), 0);
  assert.deepEqual(alone.faults, []);
});

test('on paper a page is light, and its table has its rows', async () => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open('#/jobs/example');
  await drawn();
  const look = async (event) => {
    await page.evaluate((name) => window.dispatchEvent(new Event(name)), event);
    return page.evaluate(() => document.documentElement.dataset.theme);
  };
  assert.equal(await look('beforeprint'), 'light');
  await page.waitForFunction(() => document.querySelectorAll('.row:not(.head)').length === 27);
  assert.equal(await look('afterprint'), 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  noFaults();
});

test('on a narrow screen the list of jobs is all in sight', async () => {
  await page.setViewportSize({ width: 800, height: 900 });
  await open('');
  const list = page.getByRole('region', { name: 'Jobs' });
  await list.getByRole('link', { name: 'example', exact: true }).waitFor();
  const [wide, room] = await list.evaluate((box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(wide <= room, `${wide} pixels in ${room}`);
  noFaults();
});

test('what several objectives and constraints leave is said beside the best trial', async () => {
  const job = commandJob('bounded', { value: '"%s size=%s" % (x, 1 - x)' });
  job.trainer.metrics.push({ name: 'size', regex: 'size=([^ ]+)' });
  delete job.objective;
  job.objectives = [{ metric: 'loss', goal: 'minimize', constraints: [{ metric: 'size', min: 0 }] }, { metric: 'size', goal: 'minimize' }];
  await server.call('POST', '/v1/jobs', job);
  await server.waitForEnd('bounded');
  const { pareto } = await server.call('GET', '/v1/jobs/bounded/summary');
  assert.ok(pareto.length > 1);
  await open('#/jobs/bounded');
  const best = page.getByRole('region', { name: 'Best trial' });
  await best.getByText(/^Within size at least 0: (\d+) of \1 trials\.$/).waitFor();
  await best.getByRole('link', { name: `${pareto.length} trials` }).click();
  await page.getByRole('img', { name: /^Pareto front/ }).waitFor();
  noFaults();
});

test('a range that may be too narrow is told, with the way to a wider one', async () => {
  const job = commandJob('narrow', { value: 'x', limits: { max_trials: 30 }, scheduler: { type: 'none', max_resource: 1 }, search_space: { x: { type: 'float', min: 1, max: 2 } } });
  job.enqueue = Array.from({ length: 10 }, (_, place) => ({ x: 1 + place / 1000 }));
  await server.call('POST', '/v1/jobs', job);
  await server.waitForEnd('narrow');
  await open('#/jobs/narrow');
  await page.getByText('x = 1, its min: 10 of the best 10 trials lie within 2 % of it.').waitFor();
  await page.getByRole('link', { name: 'Make a job like it' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  noFaults();
});

test('nothing is wider than a telephone', async () => {
  const long = 'optimizer.schedule.warmup_of_the_learning_rate_in_steps';
  await server.call('POST', '/v1/jobs', commandJob('names', { search_space: { x: { type: 'float', min: 0, max: 1 }, [long]: { type: 'categorical', values: ['a', `${long}_b`] } } }));
  await server.waitForEnd('names');
  await page.setViewportSize({ width: 360, height: 740 });
  for (const hash of ['#/', '#/jobs/example', '#/jobs/example/rungs', '#/jobs/example/parameters', '#/jobs/names/parameters', '#/jobs/example/trials/3', '#/jobs/saves/trials/0', '#/jobs/saves/debugger', '#/new', '#/compare?jobs=example,one']) {
    await open(hash);
    await page.locator('main h1, main h2').first().waitFor();
    await page.waitForLoadState('networkidle');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${hash} is ${wide} pixels wide`);
  }
  await open('#/compare?jobs=example,one');
  const heads = page.getByRole('region', { name: 'Results of the jobs' }).getByRole('columnheader');
  await heads.first().waitFor();
  const lines = (await heads.evaluateAll((found) => found.map((one) => one.getBoundingClientRect().height)));
  assert.ok(Math.max(...lines) < 40, `the heads of what is out of sight leave empty lines: ${lines}`);
  await open('#/jobs/trees/table');
  const sorted = page.locator('[role=columnheader][aria-sort=ascending]');
  await sorted.filter({ hasText: 'kept' }).waitFor();
  const right = await sorted.evaluate((head) => head.getBoundingClientRect().right);
  assert.ok(right <= 360, `what the trials are sorted by is out of sight, ${right} pixels to the right`);
  const tops = (locator) => locator.evaluateAll((found) => new Set(found.map((one) => one.getBoundingClientRect().top)).size);
  assert.equal(await tops(page.getByRole('navigation', { name: 'Main' }).getByRole('link')), 1, 'the pages are named in one line');
  await open('#/new');
  await page.getByLabel('x: min').waitFor();
  assert.equal(await tops(page.getByLabel(/^x: (min|max|step|scale)$/)), 1, 'what bounds a parameter stands in one line');
  assert.equal(await tops(page.getByLabel(/^(Name of|Remove) x$/)), 1, 'and what takes it away beside its name');
  noFaults();
});
