// A job that runs on any machine with a Python 3 and nothing else: the Branin function, which has three minima of 0.397887, seen
// through a learning curve that comes down to it.
import type { JobDocument } from '../../api/shapes.ts';

const program = `
import math, sys, time
x, y, begin, end = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
value = (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10
for step in range(begin + 1, end + 1):
    time.sleep(0.02)
    print("step=%d loss=%.6f" % (step, value + 30 / step), flush=True)
    open(sys.argv[5] + "/step", "w").write(str(step))
`.trim();

export const exampleDocument: JobDocument = {
  name: 'example',
  objective: { metric: 'loss', goal: 'minimize' },
  search_space: { x: { type: 'float', min: -5, max: 10 }, y: { type: 'float', min: 0, max: 15 } },
  trainer: {
    type: 'command',
    argv: ['python3', '-c', program, '{x}', '{y}', '{from_resource}', '{until_resource}', '{checkpoint_dir}'],
    metrics: [{ name: 'loss', regex: 'loss=([^ ]+)' }],
    resource_regex: 'step=(\\d+)',
    resource_name: 'steps',
    resume: 'checkpoint',
  },
  scheduler: { max_resource: 27 },
  limits: { max_trials: 27 },
};
