// Jobs of any size in little time: their trials are reported by workers that do not train.
const workers = 16;

const document = (name, trials, points) => ({
  name,
  objective: { metric: 'loss', goal: 'minimize' },
  search_space: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((parameter) => [parameter, { type: 'float', min: 0, max: 1 }])),
  sampler: { type: 'random', seed: 1 },
  trainer: { type: 'command', argv: ['true'], metrics: [{ name: 'loss', regex: 'loss=(.*)' }], resource_regex: 'step=(\\d+)' },
  scheduler: { type: 'none', max_resource: points },
  limits: { max_trials: trials },
});

function exitOf(order, points) {
  const { a, b, c } = order.configuration;
  const end = (a - 0.3) ** 2 + 0.5 * (b - 0.6) ** 2 + 0.1 * c;
  const observations = Array.from({ length: points }, (_, index) => ({ resource: index + 1, metrics: { loss: end + (1 + c) / (index + 1) } }));
  return { epoch: order.epoch, observations, checkpoint_resource: points, training_ms: 10, exit: 'completed', message: '' };
}

// Until there is no more work.
async function work(server, name, points) {
  let status = null;
  for (;;) {
    const reply = await server.call('POST', `/v1/workers/${name}/sync`, { name, host: 'here', pid: 1, ...(status && { assignment: status }) });
    if (reply.desired === 'execute') status = exitOf(reply.order, points);
    else if (status) status = null;
    else return;
  }
}

// Eight parameters, of which three matter; to the job's end. The server must have no workers of its own.
export async function runLargeJob(server, name, trials, points) {
  await server.call('POST', '/v1/jobs?preflight=off', document(name, trials, points));
  await Promise.all(Array.from({ length: workers }, (_, index) => work(server, `reporting-${index}`, points)));
}
