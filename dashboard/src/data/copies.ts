// A configuration as one pastes it elsewhere.
import type { Configuration, JobDocument, ParameterValue, Refit } from '../api/shapes.ts';

export function asJson(configuration: Configuration): string {
  return JSON.stringify(configuration, null, 2);
}

function pythonValue(value: ParameterValue | object): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

export function asXgboostPython({ parameters, rounds, exact }: Refit): string {
  const lines = Object.entries(parameters).map(([name, value]) => `    ${JSON.stringify(name)}: ${pythonValue(value)},`);
  const uncounted = String(parameters['objective']).startsWith('multi:') && !('num_class' in parameters);
  if (uncounted) lines.push('    "num_class": int(dtrain.get_label().max()) + 1,'); // as the worker counts them
  const draws = exact ? [] : ['# What is drawn at random is drawn otherwise than in the trial: the value will differ.'];
  return ['import xgboost', '', ...draws, 'params = {', ...lines, '}', `booster = xgboost.train(params, dtrain, num_boost_round=${rounds})`, ''].join('\n');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const placeholders = /\{\{|\}\}|\{([\w.-]+)\}/g;

// As a worker fills it (fill_argv), but for what only a worker knows, which stays; null: it names a parameter that is not active,
// and is left out.
function filledArgument(argument: string, configuration: Configuration, space: JobDocument['search_space']): string | null {
  let inactive = false;
  const filled = argument.replace(placeholders, (whole, name?: string) => {
    if (name === undefined) return whole.charAt(0); // a brace itself
    if (Object.hasOwn(configuration, name)) return String(configuration[name]);
    inactive ||= Object.hasOwn(space, name);
    return whole;
  });
  return inactive ? null : filled;
}

// A command trainer's argv with its values filled in; else as options.
export function asCommandLine(configuration: Configuration, { trainer, search_space: space }: JobDocument): string {
  const argv = trainer?.['argv'];
  if (!Array.isArray(argv)) {
    return Object.entries(configuration).map(([name, value]) => `--${shellWord(name)}=${shellWord(String(value))}`).join(' ');
  }
  const filled = argv.map((argument) => filledArgument(String(argument), configuration, space));
  return filled.filter((argument) => argument !== null).map(shellWord).join(' ');
}
