import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import { defined } from '../../protocol/json.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Column } from '../show/table.ts';

type Answer<Name extends 'Reflections' | 'ReflectionEvidence' | 'ReflectionPreview' | 'ReflectionRevised'> = z.infer<
  (typeof SCHEMAS)[Name]
>;
type Lesson = Answer<'Reflections'>['reflections'][number];
type Evidence = Answer<'ReflectionEvidence'>;
interface LessonsFlags extends RemoteFlags {
  agent?: string;
  tenant?: string;
  similarTo?: string;
  search?: string;
  tool?: string;
  code?: string;
  limit?: string;
  retired?: boolean;
  cursor?: string;
  for?: string;
  runId?: string;
  text?: string;
  by?: string;
  reason?: string;
}

const CHANGES = ['pin', 'unpin', 'retire', 'restore', 'edit'];
const LIST: Column<Lesson>[] = [
  { head: 'ID', cell: (lesson) => String(lesson.id), right: true },
  { head: 'AGENT', cell: (lesson) => lesson.agent ?? '(all)' },
  { head: 'STATUS', cell: statusOf },
  { head: 'LEARNT', cell: (lesson) => String(lesson.occurrence_count), right: true },
  {
    head: 'LESSON',
    cell: ({ content, superseded_because: why }) => (why === null ? content : `${content} (${why})`),
    flexible: true,
  },
];
const PREVIEW: Column<Answer<'ReflectionPreview'>['lessons'][number]>[] = [
  { head: 'ID', cell: (lesson) => String(lesson.id), right: true },
  { head: 'SEEN', cell: (lesson) => (lesson.shown ? 'yes' : 'no') },
  { head: 'WHY', cell: (lesson) => lesson.why, flexible: true },
  { head: 'LESSON', cell: (lesson) => lesson.content, flexible: true },
];

function statusOf({ status, pinned }: { status: string; pinned: boolean }): string {
  return pinned ? `${status}, pinned` : status;
}

export function addLessons(program: Command): void {
  withPerson(
    remoteCommand(
      program,
      'lessons [action] [id]',
      'list lessons, show one with its evidence, change one (pin, unpin, retire, restore, edit), or preview what a run would see',
    ),
  )
    .option('--agent <name>', 'list only lessons of this agent and those for all agents')
    .option('--tenant <name>', 'list or preview only lessons of this tenant')
    .option('--search <text>', 'list lessons with these words, or beginnings of words, in the error or the lesson')
    .option(
      '--similar-to <text>',
      'list lessons about this error, also if its numbers, ids, paths or word order differ',
    )
    .option('--tool <name>', 'list only lessons about this tool')
    .option('--code <code>', 'list only lessons about errors with this code')
    .option('--retired', 'list the lessons that a person retired')
    .option('--cursor <cursor>', 'continue after the last list')
    .option('--limit <n>', 'the most lessons to list')
    .option('--for <agent>', 'preview the lessons that a run of this agent would see')
    .option('--run-id <id>', 'the id of the run to preview')
    .option('--text <text>', 'the new text, for edit')
    .option('--reason <text>', 'the reason to record')
    .action(async (action: string | undefined, id: string | undefined, flags: LessonsFlags) => {
      const [{ connectRemote }, { print }, { table, terminalWidth }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
      ]);
      const { api } = await connectRemote(flags);
      const what = action ?? (flags.for === undefined ? 'list' : 'preview');
      if (what === 'preview') {
        if (flags.for === undefined || flags.runId === undefined)
          throw new ConfigError('A preview needs an agent and a run id.', 'Add --for <agent> --run-id <id>.');
        const asked = { agent: flags.for, run_id: flags.runId, ...defined({ tenant: flags.tenant }) };
        const { body } = await api.ask<Answer<'ReflectionPreview'>>('POST', '/v1/reflections/preview', { body: asked });
        return print(flags, body, () =>
          body.lessons.length === 0
            ? [`The run ${body.run_id} would see no lessons.`]
            : table(PREVIEW, body.lessons, terminalWidth()),
        );
      }
      if (what === 'list') {
        const { agent, tenant, similarTo, search, tool, code, limit, cursor, retired } = flags;
        const filter = { agent, tenant, similar_to: similarTo, q: search, tool, code, limit, cursor };
        const query = { ...filter, ...(retired && { retired: 'true' }) };
        const { body } = await api.ask<Answer<'Reflections'>>('GET', '/v1/reflections', { query });
        return print(flags, body, () =>
          body.reflections.length === 0
            ? ['No lessons.']
            : [
                ...table(LIST, body.reflections, terminalWidth()),
                ...(body.next_cursor === undefined ? [] : [`More: --cursor ${body.next_cursor}`]),
              ],
        );
      }
      if (id === undefined || (what !== 'show' && !CHANGES.includes(what)))
        throw new ConfigError(
          id === undefined ? `${what} needs the id of a lesson.` : `There is no action ${what}.`,
          `Write secondwind lessons <action> <id>; the actions are show, ${CHANGES.join(', ')}.`,
        );
      if (what === 'show') {
        const { body } = await api.ask<Evidence>('GET', `/v1/reflections/${encodeURIComponent(id)}`);
        return print(flags, body, () => describe(body));
      }
      const change = { action: what, by: readPerson(flags), ...defined({ content: flags.text, reason: flags.reason }) };
      const path = `/v1/reflections/${encodeURIComponent(id)}/revisions`;
      const { body } = await api.ask<Answer<'ReflectionRevised'>>('POST', path, { body: change });
      return print(flags, body, () => [`Lesson ${body.reflection_id}: ${body.action} by ${body.by}.`]);
    });
}

const points = (share: number): string => `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)} points`;

/** The lesson with its evidence: the trial, every verdict, and every change by a person. */
function describe(lesson: Evidence): string[] {
  const { trial } = lesson;
  const state = lesson.retired ? 'retired' : statusOf(lesson);
  return [
    lesson.content,
    `Status: ${state}. Learnt ${lesson.occurrence_count} times, last at ${lesson.last_seen_at}, for ${lesson.agent ?? 'all agents'}.`,
    ...(lesson.superseded_because === null ? [] : [lesson.superseded_because]),
    ...lesson.errors.map(({ tool_name, error_code, text }) =>
      ['Error:', tool_name, error_code, text].filter(Boolean).join(' '),
    ),
    ...lesson.occurrences.flatMap(({ run_id, at }) => (run_id === null ? [] : [`  learnt by ${run_id} at ${at}`])),
    ...lesson.runs.map(
      ({ run_id, shown, ok, at }) =>
        `  ${shown ? 'seen by' : 'withheld from'} ${run_id} at ${at}, which ${ok ? 'succeeded' : 'did not succeed'}`,
    ),
    ...(trial === null
      ? []
      : [
          `Trial: right at the first attempt in ${trial.shown.ok} of ${trial.shown.n} runs that saw it, and in ${trial.withheld.ok} of ${trial.withheld.n} that did not.`,
          ...(trial.effect === null
            ? []
            : [`  effect ${points(trial.effect)}, between ${points(trial.low)} and ${points(trial.high)}`]),
        ]),
    ...lesson.verdicts.map(
      ({ status, shown, withheld, effect, low, high, created_at }) =>
        `Verdict: ${status} at ${created_at}, after ${shown} runs that saw it and ${withheld} that did not; effect ${points(effect)}, between ${points(low)} and ${points(high)}.`,
    ),
    ...lesson.revisions.map(
      ({ action, by, reason, created_at }) =>
        `Change: ${action} by ${by} at ${created_at}${reason === null ? '' : `: ${reason}`}.`,
    ),
  ];
}
