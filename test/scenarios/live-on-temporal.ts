import { expect } from 'vitest';
import { MESSAGE, QUERY } from '../../src/protocol/names.ts';
import { workflowIdOfRun } from '../../src/protocol/ids.ts';
import type { RunResult, RunStatus } from '../../src/protocol/run.ts';
import { eventually } from '../support/eventually.ts';
import type { RunWorld } from '../support/run-world.ts';
import type { Scenario } from './scenarios.ts';

export interface LivedOnTemporal {
  result: RunResult;
  status: RunStatus;
  failures: unknown;
  trace: unknown;
}

type Answer = Parameters<RunWorld['runs']['answer']>[1];

/**
 * Executes the scenario on Temporal. Odd questions are answered by signal and even ones by update, because both must
 * have the same effect.
 */
export async function liveOnTemporal(
  scenario: Scenario,
  world: RunWorld,
  runId: string,
  handOverAfterEvents?: number,
): Promise<LivedOnTemporal> {
  const handle = world.client.workflow.getHandle(workflowIdOfRun(runId));
  const workflow = handOverAfterEvents === undefined ? {} : { hand_over_after_events: handOverAfterEvents };
  await world.clientWith({ workflow }).runs.start({ ...scenario.request, run_id: runId });
  for (const message of scenario.atOnce ?? []) await handle.signal(message.type, message.body);
  const asked = [scenario.answers, scenario.whileAsked].flatMap((messages) => Object.keys(messages ?? {}));
  for (const number of [...new Set(asked)].toSorted()) {
    const question = await openQuestion(world, runId, Number(number));
    for (const message of scenario.whileAsked?.[Number(number)] ?? []) await handle.signal(message.type, message.body);
    const reply = scenario.answers?.[Number(number)];
    if (reply === undefined) continue;
    const body = { question_id: question, ...reply.body };
    if (Number(number) % 2 === 1) await handle.signal(MESSAGE.answer, body);
    else expect(await world.runs.answer(runId, body as Answer)).toMatchObject({ accepted: true });
  }
  await world.runs.result(runId);
  return {
    result: await handle.query<RunResult>(QUERY.result),
    status: await handle.query<RunStatus>(QUERY.status),
    failures: (await handle.query<{ failures: unknown }>(QUERY.failures)).failures,
    trace: (await handle.query<{ trace: unknown }>(QUERY.trace)).trace,
  };
}

async function openQuestion(world: RunWorld, runId: string, number: number): Promise<string> {
  const read = async () => (await world.runs.get(runId)).pending_question?.question_id ?? '';
  return eventually(read, (id) => id.endsWith(`q${number}`));
}
