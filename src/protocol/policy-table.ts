/**
 * Every setting of a policy, one row each: its type and range, its default, and one sentence that says what it does. The zod
 * schemas, the defaults, the problem messages, the checks of the workflows, `secondwind policy` and docs/policy.md are made
 * from this table. It is plain TypeScript because workflows read it and must not load zod.
 */
interface Described {
  sentence: string;
}
interface Dated {
  /** Open runs of an earlier release do not have this setting. They behave as before it existed. */
  added?: true;
}
export interface NumberSetting extends Described, Dated {
  type: 'integer' | 'number';
  min: number;
  max: number;
  default: number;
}
export interface CapSetting extends Described {
  /** A whole number, or null for no limit. */
  type: 'integer_or_null';
  min: number;
  max: number;
  default: number | null;
}
export interface SwitchSetting extends Described {
  type: 'boolean';
  default: boolean;
}
export interface ChoiceSetting<Choice extends string = string> extends Described {
  type: 'choice';
  choices: readonly Choice[];
  default: Choice;
}
export interface ListSetting extends Described {
  type: 'list';
  maxItems: number;
  items: { format: 'text' | 'url'; minChars: number; maxChars: number };
  default: string[];
}
export type Setting = NumberSetting | CapSetting | SwitchSetting | ChoiceSetting | ListSetting;

/** Settings under one key of the policy. */
export interface SettingGroup<Settings = Record<string, Setting>> extends Described {
  type: 'group';
  settings: Settings;
}

type ValueOf<Row> = Row extends { type: 'list' }
  ? string[]
  : Row extends { type: 'choice'; choices: readonly (infer Choice)[] }
    ? Choice
    : Row extends { type: 'integer_or_null' }
      ? number | null
      : Row extends { type: 'boolean' }
        ? boolean
        : number;
type Table = Record<string, Setting | SettingGroup>;

/** A policy with every setting of the table. */
export type ValuesOf<Rows extends Table> = {
  [Key in keyof Rows]: Rows[Key] extends SettingGroup<infer Settings>
    ? { [Name in keyof Settings]: ValueOf<Settings[Name]> }
    : ValueOf<Rows[Key]>;
};
/** Any part of a policy. */
export type PatchOf<Rows extends Table> = {
  [Key in keyof Rows]?: Rows[Key] extends SettingGroup<infer Settings>
    ? { [Name in keyof Settings]?: ValueOf<Settings[Name]> }
    : ValueOf<Rows[Key]>;
};

type Range = readonly [min: number, max: number];
const integer = ([min, max]: Range, normal: number, sentence: string): NumberSetting => ({
  type: 'integer',
  min,
  max,
  default: normal,
  sentence,
});
const number = (range: Range, normal: number, sentence: string): NumberSetting => ({
  ...integer(range, normal, sentence),
  type: 'number',
});
const added = (setting: NumberSetting): NumberSetting => ({ ...setting, added: true });
const cap = (range: Range, normal: number | null, sentence: string): CapSetting => ({
  ...integer(range, 0, sentence),
  type: 'integer_or_null',
  default: normal,
});
const boolean = (normal: boolean, sentence: string): SwitchSetting => ({ type: 'boolean', default: normal, sentence });
const choice = <const Choice extends string>(
  choices: readonly Choice[],
  normal: NoInfer<Choice>,
  sentence: string,
): ChoiceSetting<Choice> => ({ type: 'choice', choices, default: normal, sentence });
const list = (maxItems: number, items: ListSetting['items'], sentence: string): ListSetting => ({
  type: 'list',
  maxItems,
  items,
  default: [],
  sentence,
});
const group = <Settings extends Record<string, Setting>>(
  sentence: string,
  settings: Settings,
): SettingGroup<Settings> => ({ type: 'group', sentence, settings });

const DAY_MS = 86_400_000;
const RETRIES: Range = [0, 20];
const REPEATS: Range = [2, 1_000];
const SHARE: Range = [0, 1];

export const POLICY_TABLE = {
  mode: choice(
    ['enforce', 'guide', 'observe'],
    'enforce',
    '`enforce` shows guidance and stops runs, `guide` shows guidance and stops nothing, `observe` only records what it would have done. It governs the guards only: budgets and the limit end a run in every mode.',
  ),
  retry: group(
    'Retries per step by the category of its failure, and the waits between them. A step counts its retries over all categories; the category of its latest failure sets how many it may have.',
    {
      validation: integer(RETRIES, 2, 'Retries after an answer that breaks a schema or misses what was asked for.'),
      rate_limit: integer(RETRIES, 5, 'Retries after a rate limit; a wait is never shorter than Retry-After.'),
      network: integer(RETRIES, 4, 'Retries after a refused or reset connection or a failed DNS lookup.'),
      server_error: integer(RETRIES, 4, 'Retries after a 5xx answer.'),
      timeout: integer(RETRIES, 2, 'Retries after a timeout.'),
      context_length: integer(RETRIES, 1, 'Retries after a prompt that was too long for the model.'),
      worker_lost: integer(
        RETRIES,
        2,
        'Retries after a lost worker. They are an allowance of their own, on top of the other retries.',
      ),
      unknown_error: integer(RETRIES, 2, 'Retries after an exception that no rule recognizes.'),
      base_ms: integer([1, 3_600_000], 1_000, 'The first wait before a retry, in milliseconds.'),
      factor: number([1, 10], 2, 'Each further wait is longer than the one before it by this factor.'),
      max_wait_ms: integer(
        [1, DAY_MS],
        300_000,
        'The longest wait before a retry, in milliseconds. A longer Retry-After leaves no retry.',
      ),
      enhance: boolean(true, 'Whether a retry may add to the prompt what the attempt before it missed.'),
      enhance_holdout: added(
        number(
          [0, 0.5],
          0.1,
          'The share of runs whose retries do not enhance prompts, by a hash of the run id. They are the baseline that enhancement is compared with.',
        ),
      ),
    },
  ),
  failures: group('The guidance that an attempt sees, and when a repeated failure asks a person.', {
    guidance_k: integer([0, 20], 5, 'The most rows of guidance that an attempt sees.'),
    guidance_max_chars: integer([200, 8_000], 1_200, 'The most characters of guidance that an attempt sees.'),
    escalate_at: integer([1, 100], 3, 'A person is asked when a failure has occurred this often without progress.'),
  }),
  loops: group('When an agent counts as stuck.', {
    same_outcome: integer(REPEATS, 4, 'The agent is stuck after this many equal calls with the same outcome.'),
    same_error: integer(REPEATS, 3, 'The agent is stuck after the same call has failed this often.'),
    same_message: integer(REPEATS, 3, 'The agent is stuck after it has sent the same message this often.'),
    cycle_rounds: integer(REPEATS, 3, 'The agent is stuck after this many rounds of a cycle of 2 to 4 calls.'),
    ignore_tools: list(100, { format: 'text', minChars: 0, maxChars: 128 }, 'Tools whose calls are never counted.'),
  }),
  reruns: group('Whether a reviewed pass is followed by another one.', {
    max_reruns: integer([0, 100], 3, 'The most further passes. They are part of the limit of the run.'),
    alignment_threshold: number(SHARE, 0.75, 'A pass with a lower alignment score is not good enough.'),
    drift_threshold: number(SHARE, 0.25, 'A pass with a higher drift score is not good enough.'),
    on_guard: choice(
      ['finalize', 'ask_human'],
      'finalize',
      'Whether a guard that would end the run finalizes it or asks a person first.',
    ),
  }),
  fatigue: group('How passes without improvement add up until the run is finalized.', {
    base_increment: number(SHARE, 0.15, 'Added to the fatigue by a pass without improvement.'),
    improvement_threshold: number(SHARE, 0.05, 'The smallest change of a score that counts as an improvement.'),
    decay_rate: number(SHARE, 0.05, 'Subtracted from the fatigue by a pass with improvement.'),
    critical_threshold: number(SHARE, 0.5, 'The run is finalized when the fatigue reaches this value.'),
    max_fatigue: number(SHARE, 1, 'The fatigue never exceeds this value.'),
  }),
  bias: group('When a bias tag that keeps coming back ends the run.', {
    repetition_threshold: integer([1, 100], 3, 'The run is finalized when a bias tag has been counted this often.'),
    scope: choice(
      ['family', 'global'],
      'family',
      'Whether the counts of this run (`family`) or of all runs (`global`) decide.',
    ),
  }),
  feedback: group('How a prompt is refined by what a person said.', {
    max_refinement_iterations: integer([0, 20], 3, 'The most iterations of refining a prompt.'),
    target_score: number([0, 10], 7, 'The prompt score, out of 10, at which refining stops.'),
  }),
  memory: group('Which lessons of earlier runs a run sees.', {
    scope: choice(
      ['agent', 'run', 'global'],
      'agent',
      'Whose lessons a run sees: those of its agent (`agent`), those of all agents (`global`) or none (`run`).',
    ),
    similarity_threshold: number(SHARE, 0.85, 'Two lessons that are at least this similar count as one.'),
    holdout: added(
      number(
        [0, 0.5],
        0.1,
        'The share of runs from which a proven lesson is withheld, so that its effect stays measured. A new lesson is withheld from half of them. With 0 every lesson is shown and none is measured.',
      ),
    ),
  }),
  budget: group('Caps of the whole run. Time spent waiting for a person does not count.', {
    max_steps: integer([1, 10_000], 50, 'The most steps.'),
    max_attempts: integer([1, 100_000], 120, 'The most attempts of tools, retries included.'),
    max_model_calls: integer([0, 100_000], 80, 'The most turns of a planner, retries included.'),
    max_tokens: integer([0, 1_000_000_000], 1_000_000, 'The most tokens of a planner.'),
    max_cost_micro_usd: cap(
      [0, 1_000_000_000_000],
      null,
      'The highest cost, in millionths of a US dollar; null sets no cap.',
    ),
    max_seconds: integer([1, 31_622_400], 86_400, 'The longest running time, in seconds.'),
    soft: number(SHARE, 0.8, 'The run records a first warning when this share of a budget is used.'),
    near: number(SHARE, 0.95, 'The run records a second warning at this share. It must not be below `soft`.'),
  }),
  humans: group('How often people are asked, and what they may add. All of it is part of the limit.', {
    max_overrides: integer([0, 100], 3, 'The most overrides that a run accepts.'),
    max_questions: integer([0, 100], 3, 'The most questions that a run asks.'),
    max_feedback: integer([0, 1_000], 10, 'The most feedback messages that a run accepts.'),
    deadline_ms: integer([1, 366 * DAY_MS], DAY_MS, 'The time to answer a question, in milliseconds.'),
    chain: list(
      10,
      { format: 'text', minChars: 1, maxChars: 200 },
      'The people to ask next, in this order, if nobody answers in time. Each has the same time.',
    ),
    default: choice(
      ['stop', 'skip', 'deny'],
      'stop',
      'The decision if nobody answers in time or no question is left. A question that does not offer it gets `deny` or `stop`.',
    ),
    notify: list(
      10,
      { format: 'url', minChars: 0, maxChars: 2_000 },
      'Addresses that get a webhook for each question.',
    ),
  }),
} satisfies Table;

export interface PolicyRow {
  /** `mode`, or group and name: `retry.base_ms`. */
  path: string;
  /** The keys that lead to the value in a policy. */
  keys: readonly string[];
  setting: Setting;
}

/** The table without its groups, in its order. */
export const POLICY_ROWS: readonly PolicyRow[] = Object.entries<Setting | SettingGroup>(POLICY_TABLE).flatMap(
  ([key, entry]) =>
    entry.type === 'group'
      ? Object.entries(entry.settings).map(([name, setting]) => rowOf([key, name], setting))
      : [rowOf([key], entry)],
);

function rowOf(keys: readonly string[], setting: Setting): PolicyRow {
  return { path: keys.join('.'), keys, setting };
}
