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

// A job whose trainings save a loss, which is no number from step 6 on, and weights. In an argument }} is one brace.
const savingLoop = (pause) => `
import json, os, struct, sys, time
begin, end = int(sys.argv[1]), int(sys.argv[2])
tensors = os.environ["TUNEBAND_TENSORS"]
x = float(os.environ["TUNEBAND_PARAMETER_X"])
header = str(dict(descr="<f8", fortran_order=False, shape=(2,))).ljust(117) + "\\n"
for step in range(begin + 1, end + 1):
    time.sleep(${pause})
    with open(tensors + "/weights/fc1@%d.npy" % step, "wb") as file:
        file.write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<2d", x, step))
    print(json.dumps(dict(step=step, tensors=dict([("losses/train", float("nan") if step >= 6 else 1 / step)]))))
    print("step=%d loss=%s" % (step, x + 1 / step))
`;

export function savingJob(name, { pause = 0, ...rest } = {}) {
  const job = commandJob(name, { scheduler: { type: 'none', max_resource: 9 }, limits: { max_trials: 2 }, ...rest });
  job.trainer.argv = program(savingLoop(pause));
  job.debug = { save: { every: 1 }, rules: [{ rule: 'exploding_tensor' }, { rule: 'overfit' }, { rule: 'unchanged_tensor', name: 'still', collections: ['weights'] }] };
  return job;
}
