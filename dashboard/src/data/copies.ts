// A configuration as one pastes it elsewhere.
import type { Configuration, ParameterValue, Refit } from '../api/shapes.ts';

export function asJson(configuration: Configuration): string {
  return JSON.stringify(configuration, null, 2);
}

function pythonValue(value: ParameterValue | object): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

export function asXgboostPython({ parameters, rounds, exact }: Refit): string {
  const lines = Object.entries(parameters).map(([name, value]) => `    ${JSON.stringify(name)}: ${pythonValue(value)},`);
  const draws = exact ? [] : ['# What is drawn at random is drawn otherwise than in the trial: the value will differ.'];
  return ['import xgboost', '', ...draws, 'params = {', ...lines, '}', `booster = xgboost.train(params, dtrain, num_boost_round=${rounds})`, ''].join('\n');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// A command trainer's argv with its values filled in; else as options.
export function asCommandLine(configuration: Configuration, argv: unknown): string {
  if (!Array.isArray(argv)) {
    return Object.entries(configuration).map(([name, value]) => `--${shellWord(name)}=${shellWord(String(value))}`).join(' ');
  }
  const filled = argv.map((word) => String(word).replace(/\{(\w+)\}/g, (whole, name: string) => String(configuration[name] ?? whole)));
  return filled.map(shellWord).join(' ');
}
