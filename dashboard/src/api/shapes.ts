// What the server answers, as docs/api.md describes it.

export type NumberText = number | 'nan' | 'inf' | '-inf'; // JSON has no other way to say them
export type ParameterValue = string | number | boolean;
export type Configuration = Record<string, ParameterValue>;

export const trialStates = ['pending', 'running', 'paused', 'completed', 'stopped', 'failed', 'cancelled'] as const;
export type TrialState = (typeof trialStates)[number];
export type JobState = 'running' | 'stopping' | 'completed' | 'stopped' | 'failed';

export interface Objective {
  metric: string;
  goal: 'maximize' | 'minimize';
}

export interface BestTrial {
  trial: number;
  value: number;
  resource: number;
  test_value: number | null;
  configuration: Configuration;
}

export type TrialCounts = Record<TrialState, number> & { created: number; planned: number | null };

export interface Job {
  id: number;
  name: string;
  state: JobState;
  reason: string;
  created_at: string;
  ended_at: string | null;
  objective: Objective;
  more_objectives: Objective[];
  constraints: { metric: string; min: number | null; max: number | null }[];
  scheduler: string;
  max_resource: number;
  resource_name: string;
  rungs_compare: boolean; // trials keep the best of all rungs, and are compared by it
  trials: TrialCounts;
  best: BestTrial | null;
  best_anywhere: BestTrial | null;
  resource_spent: number;
  training_seconds: number;
  expected_improvement: number | null;
  note: string;
  held: boolean;
  weight: number;
  max_parallel_trials: number;
  max_runtime_seconds: number | null;
}

// What a list of jobs shows of each.
export interface Card extends Job {
  waiting: Record<string, number>;
  queue_position: number | null;
  waits_for: string; // a sentence; '': nothing keeps it
  progress: number | null; // of what is planned, 0 to 1; null: nothing is planned ahead
  sparkline: { seconds: number[]; value: NumberText[] }; // the best so far
}

export interface CardPage {
  jobs: Card[];
  next: string | null;
  event: number; // where to go on in the log
}

export interface TrialFiles {
  files: { path: string; size_bytes: number; modified_at: string }[];
  left_out: number;
}

export interface ServerEvent {
  id: number;
  kind: string;
  job: number | null;
  job_name: string | null;
  trial: number | null;
  worker: string;
  message: string;
  at: string;
}

export interface JobDetail extends Job {
  spec: JobDocument;
  waiting: Record<string, number>;
  queue_position: number | null;
}

export interface JobDocument {
  name: string;
  search_space: Record<string, ParameterDocument>;
  trainer?: { type: string; [field: string]: unknown };
  [field: string]: unknown;
}

export interface ParameterDocument {
  type: string;
  min?: number;
  max?: number;
  scale?: string;
  step?: number;
  values?: ParameterValue[];
  ordered?: boolean; // of a categorical
  value?: ParameterValue;
  [field: string]: unknown;
}

export interface Trial {
  job: number;
  number: number;
  state: TrialState;
  configuration: Configuration;
  origin: string;
  bracket: number;
  rung: number;
  resource: number;
  until_resource: number;
  objective: NumberText | null;
  objective_resource: number;
  kept_value: number | null;
  kept_resource: number;
  standard_error: number | null;
  violation: NumberText;
  more_objectives: NumberText[];
  attempts: number;
  segments: number;
  worker: string;
  replicas: number;
  workers: string[];
  exit_class: string | null;
  message: string;
  advice: string;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  training_seconds: number;
  queue_seconds: number;
  note?: string; // left out by live updates
  refit?: Refit; // of one trial and of the best one, where XGBoost trained it
}

export interface Refit {
  rounds: number;
  parameters: Record<string, ParameterValue | Record<string, number> | (string | number)[][]>; // constraints on features too
  exact: boolean; // it gives the same model
}

export interface Observation {
  resource: number;
  objective: NumberText | null;
  metrics: Record<string, NumberText>;
  at: string;
}

export interface Finding {
  trial: number;
  rule: string;
  tensor: string; // '': none shows it alone
  mode?: TensorMode; // of the tensor, if it has one
  step: number;
  value: NumberText;
  threshold: NumberText;
  message: string;
  remedy: string;
  action: string;
  at: string;
  webhook: string | null;
}

export const ruleWords = ['issues_found', 'error', 'in_progress', 'no_issues_found', 'stopped', 'not_judged'] as const; // the gravest first
export type RuleWord = (typeof ruleWords)[number];

export interface RuleStatus {
  rule: string;
  type: string;
  action: string;
  status: RuleWord;
  details: string;
  changed_at: string | null;
  saved_steps: number;
  judged_steps: number;
  last_step: number | null;
}

export interface RuleOfJob {
  rule: string;
  type: string;
  action: string;
  status: RuleWord;
  details: string;
  changed_at: string | null;
  trials: Record<RuleWord, number>;
  example: number | null;
}

export type TensorMode = 'train' | 'validation' | 'predict';

export interface TensorEntry {
  name: string;
  collection: string;
  mode: TensorMode | null;
  scalar: boolean;
  dtype: string;
  shape: number[];
  whole: boolean;
  steps: number;
  first_step: number;
  last_step: number;
}

export interface Tensors {
  rank: number;
  ranks: number[];
  steps: { first: number | null; last: number | null; count: number };
  tensors: TensorEntry[];
  dropped: { rows: number; bytes: number };
}

export interface TensorSeries {
  name: string;
  steps: { step: number; value?: NumberText; reductions: Record<string, NumberText> }[];
}

export interface TensorBeside {
  trials: [number, number];
  steps: { step: number; values: [NumberText | null, NumberText | null] }[];
}

export type Verdict = 'waiting' | 'promoted' | 'stopped' | 'completed';

export interface Decision {
  trial: number;
  bracket: number;
  rung: number;
  resource: number;
  value: NumberText | null;
  verdict: Verdict;
  rank: number;
  filled: number;
  cutoff: NumberText | null;
  violation?: NumberText; // of the constraints, where there are any
}

export interface Rung {
  bracket: number;
  rung: number;
  resource: number;
  planned: number | null; // null: nothing is planned ahead
  reached: number;
  promoted: number;
  stopped: number;
  waiting: number;
  failed: number; // on the way here
}

export interface Forecast {
  workers: number;
  seconds_per_unit: number;
  wall_seconds: number;
  wall_seconds_without_stopping: number;
}

export interface Plan {
  ladder: number[];
  brackets: { index: number; s: number; trimmed: boolean; rungs: { resource: number; trials: number }[]; total_resource: number }[];
  brackets_left_out?: number;
  trials: number | null;
  total_resource: number;
  model_resource: number;
  front_resource: number;
  audit_resource: number;
  total_resource_without_stopping: number;
  restarts: boolean;
  learning_rate: { parameter: string; min: number; max: number } | null;
  early_work: number;
  exact: boolean;
  forecast?: Forecast | null;
  actual?: Rung[];
}

export interface Costs {
  resource_spent: number;
  training_seconds: number;
  wall_seconds: number;
  resource_without_stopping: number;
  training_seconds_without_stopping: number;
  resource_saved: number;
  training_seconds_saved: number;
  trials_measured: number;
  trials_not_finite: number;
  first_not_finite: number | null;
  trials_violating: number;
}

export interface Failure {
  exit_class: string;
  trials: number;
  example: number;
  message: string;
  advice: string;
}

export interface ReplicaTotals {
  replicas: number;
  trials: number;
  training_seconds: number;
  worker_seconds: number;
  seconds_per_unit: number | null;
  best: { trial: number; objective: number; training_seconds: number; worker_seconds: number } | null;
}

export interface Replicas {
  totals: ReplicaTotals[];
  non_dominated_by_training_seconds: number[];
  non_dominated_by_worker_seconds: number[];
}

export interface ParetoPoint {
  trial: number;
  values: NumberText[];
}

// The end of a range near which most of the best trials lie.
export interface CrowdedBound {
  parameter: string;
  end: 'min' | 'max';
  bound: number;
  trials: number;
  of: number;
}

export interface Summary {
  job: Job & { waiting: Record<string, number>; queue_position: number | null };
  best: { trial: Trial; model: string | null; test_value: number | null } | null;
  plan: {
    ladder: number[];
    trials: number | null;
    total_resource: number;
    front_resource: number;
    total_resource_without_stopping: number;
    restarts: boolean;
    exact: boolean;
    actual: Rung[];
    actual_brackets_left_out: number;
  };
  failures: Failure[];
  replicas: Replicas;
  pareto: ParetoPoint[];
  pareto_left_out: number;
  importance: { results: number; results_needed: number };
  crowded_bounds: CrowdedBound[];
  summary: Costs;
}

export interface Importance {
  resource: number;
  trials: number;
  explained: number;
  parameters: { parameter: string; share: number; deviation: number }[];
  interactions: { first: string; second: string; share: number; deviation: number }[];
  dependence: { parameter: string; values: ParameterValue[]; mean: number[]; deviation: number[] }[];
}

// The mean of what the forest predicts, for each value of `y` one for each of `x`.
export interface Surface {
  resource: number;
  trials: number;
  explained: number;
  x: string;
  y: string;
  x_values: ParameterValue[];
  y_values: ParameterValue[];
  mean: number[];
  deviation: number[];
}

export interface Worker {
  id: string;
  name: string;
  state: 'idle' | 'executing' | 'ending' | 'draining';
  job: number | null;
  trial: number | null;
  rank: number | null;
  last_seen_at: string;
  draining: boolean;
  data_keys: number;
  lacks: { job: number | null; what: string; message: string }[]; // on its machine: it is given nothing of that job, or of any
}

export interface Fault {
  message: string;
  path: string;
  hint: string;
}

export interface CreatedJob {
  job: Job;
  plan: Plan;
  warnings: Fault[];
}
