import { colours } from '../show/colours.ts';
import type { RunEvent } from '../../client/history/run-event.ts';
import type { Runs } from '../../client/secondwind-client.ts';
import type { RunEnd } from '../../client/views.ts';
import { boundSentence } from '../../core/bound/sentence.ts';
import type { Agent } from '../../define/define-agent.ts';
import type { Decision } from '../../protocol/questions.ts';
import type { RunRequest } from '../../protocol/run.ts';
import { askPerson } from './ask-person.ts';
import { clerkChooses, ORDER_GOAL, WATCH_GOAL } from './clerk-agent.ts';
import type { DemoWorkers } from './demo-workers.ts';
import { createNarrator } from './demo-narrator.ts';
import type { Warehouse } from './warehouse.ts';

export interface DemoParts {
  runs: Runs;
  agent: Agent;
  warehouse: Warehouse;
  workers: DemoWorkers;
  say: (line: string) => void;
}

const ALONE = 9;
const ANSWER_AFTER_MS = 2_000;

/** Part 1: without guidance the agent repeats the same call. */
export async function alone({ agent, say }: Pick<DemoParts, 'agent' | 'say'>): Promise<number> {
  const nothing = { rows: [], text: '' };
  for (let attempt = 1; attempt <= ALONE; attempt += 1) {
    const [call] = clerkChooses({ goal: ORDER_GOAL, steps: [], guidance: nothing }).calls;
    const tool = agent.tools.find((candidate) => candidate.name === call?.tool);
    const context = {
      guidance: nothing,
      attempt,
      constraints: {},
      idempotencyKey: `alone:${attempt}`,
      signal: new AbortController().signal,
      heartbeat: () => undefined,
      fence: 1,
      stepId: 1,
      throwIfExpired: () => undefined,
      changed: () => undefined,
      used: () => undefined,
      enhance: async (prompt: string) => prompt,
      log: () => undefined,
      keep: async () => null,
    };
    try {
      await tool?.run(call?.input, context);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      say(`${colours.red('✗')} ${tool?.name} ${JSON.stringify(call?.input)}: ${message}`);
    }
  }
  say(`The same call, the same error, ${ALONE} times. It gives up.`);
  return ALONE;
}

/** Part 2: the failure becomes guidance and the next attempt differs; a worker is killed; a side effect is not repeated blindly. */
export async function firstDay(parts: DemoParts): Promise<RunEnd> {
  const { runs, agent, warehouse, workers, say } = parts;
  const started = await runs.start({ agent: agent.name, goal: ORDER_GOAL });
  say(`${colours.bold(boundSentence(started.bound))} ${colours.dim('Known before it starts, and never passed.')}`);
  const tell = createNarrator(say);
  let killed = false;
  let questions = 0;
  for await (const event of runs.watch(started.run_id)) {
    tell(event);
    if (event.event === 'step_started' && event.tool === 'warehouse.recount' && !killed) {
      killed = true;
      say(`${colours.yellow('!')} killing the worker (process ${await workers.kill()}) in the middle of the step …`);
      await workers.start();
      say(`  ${colours.dim('another worker takes over as soon as the silence is noticed')}`);
    }
    if (event.event === 'question_asked') {
      questions += 1;
      say(`  ${colours.dim(`the warehouse has ${warehouse.orders()} order, so running it again would order twice`)}`);
      await answer(parts, started.run_id, event, 'skip');
    }
  }
  const result = await runs.result(started.run_id);
  say(
    `${summary(result)}, ${result.failures.total} failures recorded, ${questions} question asked, ` +
      `${warehouse.orders()} order in the warehouse.`,
  );
  return result;
}

/** Part 3: the lesson of part 2 is known before the first attempt. */
export async function nextDay(parts: DemoParts, yesterday: RunEnd): Promise<RunEnd> {
  const { say } = parts;
  const result = await live(parts, { agent: parts.agent.name, goal: ORDER_GOAL });
  const fewer = yesterday.used.attempts - result.used.attempts;
  say(
    `${summary(result)}: right at the first try, ${fewer} fewer than yesterday, because it had seen the failure before.`,
  );
  return result;
}

/** Part 4: nothing fails, and there is no progress. */
export async function stuck(parts: DemoParts): Promise<RunEnd> {
  const budget = { max_steps: 20, max_model_calls: 20 };
  const result = await live(parts, { agent: parts.agent.name, goal: WATCH_GOAL, policy: { budget } }, 'stop');
  parts.say(
    `${summary(result)}: it wanted the same read ${result.used.steps} times, ${result.used.attempts} of them ran; ` +
      `then it was told twice, then a person was asked.`,
  );
  return result;
}

async function live(parts: DemoParts, request: RunRequest, decision: Decision = 'stop'): Promise<RunEnd> {
  const { run_id } = await parts.runs.start(request);
  const tell = createNarrator(parts.say);
  for await (const event of parts.runs.watch(run_id)) {
    tell(event);
    if (event.event === 'question_asked') await answer(parts, run_id, event, decision);
  }
  return parts.runs.result(run_id);
}

const summary = ({ outcome, used, bound }: RunEnd): string =>
  `${colours.bold(outcome)}, ${used.attempts} of at most ${bound?.attempts ?? '?'} attempts`;

async function answer(
  { runs, say }: DemoParts,
  runId: string,
  question: Extract<RunEvent, { event: 'question_asked' }>,
  fallback: Decision,
): Promise<void> {
  if (process.stdin.isTTY)
    say(`  type ${question.options.join(', ')}; the demo answers ${fallback} in ${ANSWER_AFTER_MS / 1000} s`);
  const { decision, by } = await askPerson(question.options, fallback, ANSWER_AFTER_MS);
  const text = decision === 'correct' ? { text: 'corrected in the demo' } : {};
  await runs.answer(runId, { question_id: question.question_id, decision, by, ...text });
}
