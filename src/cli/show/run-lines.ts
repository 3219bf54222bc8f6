import { colours } from './colours.ts';
import type { AskedQuestion, ListedRun, QuestionPage, RunPage } from '../../client/views.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { questionBlock } from './question-lines.ts';
import { type Column, facts, READABLE_WIDTH, table, terminalWidth } from './table.ts';
import { count, dollars, duration, minute } from './terminal-text.ts';

const paintState = (text: string, { state, outcome }: ListedRun): string => {
  if (outcome === 'completed') return colours.green(text);
  if (outcome === 'system_error' || outcome === 'budget_exhausted') return colours.red(text);
  return outcome === 'finalized' || state === 'waiting_for_human' ? colours.yellow(text) : text;
};

const RUNS: Column<ListedRun>[] = [
  { head: 'RUN', cell: (run) => run.run_id },
  { head: 'AGENT', cell: (run) => run.agent },
  { head: 'STATE', cell: (run) => run.outcome ?? run.state, paint: paintState },
  { head: 'ATTEMPTS', cell: (run) => String(run.attempts), right: true },
  { head: 'STARTED (UTC)', cell: (run) => minute(run.started_at) },
  { head: 'GOAL', cell: (run) => run.goal, flexible: true },
];

export function runLines({ runs, next_cursor: next }: RunPage, isFiltered = false): string[] {
  if (runs.length === 0) return [isFiltered ? 'No run fits.' : 'No runs. Start one: secondwind run demo "try it"'];
  return [...table(RUNS, runs, terminalWidth()), ...more(next)];
}

const QUESTIONS: Column<AskedQuestion>[] = [
  { head: 'RUN', cell: (question) => question.run_id },
  { head: 'DEADLINE (UTC)', cell: (question) => minute(question.deadline) },
  { head: 'OPTIONS', cell: (question) => question.options.join(' ') },
  { head: 'QUESTION', cell: (question) => question.text, flexible: true },
];

export function questionLines({ questions, next_cursor: next }: QuestionPage): string[] {
  if (questions.length === 0) return ['No open questions.'];
  return [
    ...table(QUESTIONS, questions, terminalWidth()),
    ...more(next),
    '',
    'See one whole: secondwind answer <run>. Answer it: secondwind answer <run> <option>',
  ];
}

const more = (cursor: string | null): string[] => (cursor === null ? [] : [`More: --cursor ${cursor}`]);

export function statusLines(status: RunStatus): string[] {
  const { budget, failures, pending_question: question } = status;
  const place = status.step_id === 0 ? '' : `step ${status.step_id} (${status.phase}), attempt ${status.attempt}`;
  const signals = Object.entries(failures.by_signal).map(([signal, times]) => `${signal} ${times}`);
  const lines = facts([
    ['run', status.run_id],
    ['agent', status.agent],
    ['goal', status.goal],
    ['state', status.outcome ?? status.state],
    ['why', status.why],
    ['next', status.next_action],
    ['pass', status.loop_id],
    ['at', status.state === 'ended' ? undefined : place],
    ['used', formatUsage(budget)],
    ['cost', formatCost(status)],
    [
      'failures',
      failures.total === 0 ? 'none' : `${failures.total} (${failures.active} active): ${signals.join(', ')}`,
    ],
    [
      'result',
      status.result === null || status.result === undefined ? undefined : JSON.stringify(status.result.output),
    ],
    ['unknown', formatUnknown(status)],
    ['unsaved', formatUnsaved(status.unsaved)],
    ['lost', formatLost(status.unsaved)],
    ['started', status.started_at],
    ['updated', status.updated_at],
  ]);
  if (question === undefined) return lines;
  return [...lines, '', ...questionBlock(status.run_id, question, terminalWidth() ?? READABLE_WIDTH)];
}

/** Lists what the store does not have yet; undefined if it has everything. */
function formatUnsaved({ records, outputs, archive }: RunStatus['unsaved']): string | undefined {
  const parts = [
    ...(records > 0 ? [count(records, 'record')] : []),
    ...(outputs > 0 ? [count(outputs, 'output')] : []),
    ...(archive ? ['the archive'] : []),
  ];
  return parts.length === 0 ? undefined : `${parts.join(', ')}: written when Postgres answers`;
}

function formatLost({ lost = 0 }: RunStatus['unsaved']): string | undefined {
  return lost === 0 ? undefined : `${count(lost, 'output')}: too large for the history while Postgres was away`;
}

/** Lists the side effects of which nobody knows whether they happened. */
function formatUnknown({ effects }: RunStatus): string | undefined {
  const unknown = effects?.unknown ?? [];
  return unknown.length === 0 ? undefined : unknown.map(({ told, known }) => `${told}: ${known}`).join('; ');
}

/** A run without a model costs nothing. A model without a price costs something that nobody has counted. */
function formatCost({ budget: { used, limit }, bound }: RunStatus): string | undefined {
  if (used.cost_micro_usd === 0 && limit.cost_micro_usd === null) {
    if (used.model_calls === 0) return undefined;
    if (bound?.cost_micro_usd === null) return 'not known, because the model has no price';
  }
  const most = limit.cost_micro_usd === null ? '' : ` of ${dollars(limit.cost_micro_usd)}`;
  return dollars(used.cost_micro_usd) + most;
}

function formatUsage({ used, limit }: RunStatus['budget']): string {
  const of = (value: number | null): string => (value === null ? '' : ` of ${value}`);
  return [
    `${count(used.steps, 'step')}${of(limit.steps)}`,
    `${count(used.attempts, 'attempt')}${of(limit.attempts)}`,
    `${count(used.model_calls, 'model call')}${of(limit.model_calls)}`,
    `${count(used.tokens, 'token')}${of(limit.tokens)}`,
    duration(used.seconds),
  ].join(', ');
}
