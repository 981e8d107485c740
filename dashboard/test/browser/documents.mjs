// Jobs for the tests: real ones, run by real workers.

const program = (body) => ['python3', '-u', '-c', body, '{from_resource}', '{until_resource}', '{checkpoint_dir}'];

const loop = (value, pause) => `
import os, sys, time
begin, end, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = float(os.environ["TUNEBAND_PARAMETER_X"])
for step in range(begin + 1, end + 1):
    time.sleep(${pause})
    print("step=%d loss=%s" % (step, ${value}))
    open(folder + "/step", "w").write(str(step))
`;

export function commandJob(name, { value = '(x - 0.3) ** 2 + 1 / step', pause = 0, ...rest } = {}) {
  return {
    name,
    objective: { metric: 'loss', goal: 'minimize' },
    search_space: { x: { type: 'float', min: 0, max: 1 }, rate: { type: 'float', min: 0.001, max: 1, scale: 'log' }, kind: { type: 'categorical', values: ['a', 'b'] } },
    sampler: { type: 'random', seed: 1 },
    trainer: {
      type: 'command', argv: program(loop(value, pause)), metrics: [{ name: 'loss', regex: 'loss=([^ ]+)' }], resource_regex: 'step=(\\d+)',
      resource_name: 'steps', resume: 'checkpoint',
    },
    scheduler: { type: 'hyperband', min_resource: 1, max_resource: 9, eta: 3 },
    limits: { max_trials: 12 },
    ...rest,
  };
}

export const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>';

// Everything that a user may name is markup, and the values are what breaks scales.
export function hostileJob() {
  const job = commandJob('hostile', { value: '["nan", "inf", "-inf", "1e308", "0.5"][(int(x * 1000) + step) % 5]' });
  job.search_space = { x: { type: 'float', min: 0, max: 1 }, markup: { type: 'categorical', values: [markup, '"><svg onload=alert(3)>'] } };
  job.trainer.argv[3] = `print(${JSON.stringify(markup)})\n${job.trainer.argv[3]}`; // it may be ended after its last step
  job.limits = { max_trials: 9 };
  return job;
}
