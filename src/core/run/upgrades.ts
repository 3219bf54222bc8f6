import { defined, type Json } from '../../protocol/json.ts';
import { STORY_VERSION } from '../../protocol/run.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import type { CallOutcome } from '../../protocol/tools.ts';
import { callId } from '../../protocol/ids.ts';
import type { Step, StepEnd, StepStatus } from './attempts.ts';
import type { DoneEffect, RunState } from './state.ts';

/**
 * Upgrades of a state that an execution of an older build handed over. Each entry converts a state of the previous
 * version to its own version.
 *
 * 1: first version.
 * 2: one list of attempts for each step, one life, one ledger.
 * 3: effects are counted and may be unknown; before it was a list of those that are done.
 */
const UPGRADES: Record<number, (state: Versioned) => Versioned> = {
  2: fromVersion1,
  3: fromVersion2,
};

interface Versioned {
  story_version: number;
}

/**
 * Returns the state in the current version.
 * @throws RangeError when the state is newer than this worker. The workflow task then fails and is tried again, so a
 * worker of the newer build can take it.
 */
export function upgradeState(handedOver: Versioned): RunState {
  let state = handedOver;
  if (state.story_version > STORY_VERSION) {
    throw new RangeError(
      `This run is at story version ${state.story_version} and this worker knows up to ${STORY_VERSION}. Deploy a newer worker.`,
    );
  }
  for (let version = state.story_version + 1; version <= STORY_VERSION; version += 1) {
    const upgrade = UPGRADES[version];
    if (upgrade === undefined) throw new RangeError(`There is no upgrade to story version ${version}.`);
    state = { ...upgrade(state), story_version: version };
  }
  return state as RunState;
}

/** The state of version 1, as far as a run between two batches has it. */
interface Version1 extends Versioned {
  run: RunState['run'];
  started_at: number;
  updated_at: number;
  ledger: Pick<RunState['ledger'], 'used' | 'human_wait_ms' | 'warned'>;
  failures: RunState['failures'];
  lessons: RunState['lessons']['known'];
  recalled: RunState['lessons']['asked'];
  refined_goal: string | null;
  loop: Pick<RunState['loop'], 'loop_id' | 'turn' | 'output' | 'transcript' | 'told_step_id' | 'watch' | 'rerun'> & {
    dearest?: RunState['loop']['most_expensive'];
    results: Result1[];
  };
  next_step_id: number;
  past_steps: RunState['earlier']['steps'];
  questions_asked: number;
  questions_lent?: number;
  loans?: RunState['ledger']['loans'];
  answered_questions: string[];
  effects?: DoneEffect2[];
  guard: RunState['guard'];
  feedback: RunState['people']['feedback'];
  outbox: Omit<RunState['outbox'], 'unsaved'> & { records: FailureRecord[] };
  ignored_messages: RunState['people']['ignored'];
  best: RunState['earlier']['best'];
}

interface Result1 {
  step_id: number;
  plan_index: number | null;
  phase: string;
  tool: string;
  input: Json;
  status: StepStatus;
  turn?: number;
  call_id?: string;
  attempts: number;
  artifact_id: string | null;
  error_code?: string;
  message_preview?: string;
}

/** A hand-over happens between two batches of a running pass, so nothing is under way and no question is open. */
function fromVersion1(state: Versioned): Versioned {
  const old = state as Version1;
  const { dearest, results, ...loop } = old.loop;
  const upgraded: Version2 = {
    story_version: 2,
    run: old.run,
    life: { is: 'running' },
    started_at: old.started_at,
    updated_at: old.updated_at,
    ledger: {
      ...old.ledger,
      next_step_id: old.next_step_id,
      questions: { asked: old.questions_asked, lent: old.questions_lent ?? 0 },
      loans: old.loans ?? [],
    },
    failures: old.failures,
    lessons: { known: old.lessons, asked: old.recalled },
    loop: {
      ...loop,
      most_expensive: dearest ?? { tokens: 0, cost_micro_usd: 0 },
      steps: results.map((result) => upgradeStep(result, old.updated_at)),
      batch: [],
    },
    earlier: { steps: old.past_steps, best: old.best },
    effects: old.effects ?? [],
    people: {
      feedback: old.feedback,
      refined_goal: old.refined_goal,
      closed_questions: old.answered_questions,
      ignored: old.ignored_messages,
    },
    guard: old.guard,
    outbox: { ...old.outbox, unsaved: old.outbox.records.map(({ failure_id }) => failure_id) },
  };
  return upgraded;
}

interface Version2 extends Omit<RunState, 'effects'> {
  effects: DoneEffect2[];
}

interface DoneEffect2 extends Omit<DoneEffect, 'call' | 'artifact_id' | 'known'> {
  tool: string;
  input_hash: string;
  artifact_id: string;
}

/** Each kept effect of version 2 was done once. Effects of unknown outcome were not kept. */
function fromVersion2(state: Versioned): Versioned {
  const old = state as Version2;
  const kept = old.effects.map(({ tool, input_hash, ...effect }) => ({ call: callId(tool, input_hash), ...effect }));
  const done: Record<string, number> = {};
  for (const { call } of kept) done[call] = (done[call] ?? 0) + 1;
  const upgraded: RunState = { ...old, effects: { done, unknown: [], settled: [], fence: 0, kept } };
  return upgraded;
}

function upgradeStep(result: Result1, at: number): Step {
  const { step_id, plan_index, phase, tool, input, call_id, turn, attempts: n } = result;
  const outcome = upgradeOutcome(result);
  return {
    kind: 'tool',
    step_id,
    call: defined({ plan_index, phase, tool, input, call_id, turn }),
    granted: n,
    attempts: n === 0 ? [] : [{ n, at, waited_ms: 0, outcome }],
    end: upgradeEnd(result),
    attempts_read: 1,
    waiting_until: null,
    // Version 1 did not keep the record with the step, so no lesson can be learnt from it any more.
    answered: true,
  };
}

function upgradeEnd({ status, artifact_id, attempts, error_code }: Result1): StepEnd {
  switch (status) {
    case 'ok':
      return attempts === 0 && artifact_id !== null ? { kind: 'reused', artifact_id, bytes: 0 } : { kind: 'ok' };
    case 'failed':
      return error_code === 'BUDGET' ? { kind: 'budget', budget: 'attempts' } : { kind: 'failed', reason: 'unknown' };
    case 'skipped':
    // Version 1 did not have it.
    case 'unknown':
      return { kind: 'skipped' };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'denied':
    case 'timed_out':
    case 'policy':
      return { kind: 'refused', status };
    case 'guided': {
      const stall = { fingerprint: '', tool_name: null, start: 0, end: 0, repeats: 0 };
      return { kind: 'guided', stall: { ...stall, rule: 'same_call_same_outcome' } };
    }
  }
}

function upgradeOutcome({ status, artifact_id, error_code, message_preview }: Result1): CallOutcome {
  if (status === 'ok') {
    return { class: 'ok', output: null, inline: true, artifact_id: artifact_id ?? '', bytes: 0, duration_ms: 0 };
  }
  return {
    class: 'failed',
    certainty: 'failed',
    origin: 'tool',
    category: 'unknown_error',
    error_code: error_code ?? 'FAILED',
    message_preview: message_preview ?? '',
    duration_ms: 0,
  };
}
