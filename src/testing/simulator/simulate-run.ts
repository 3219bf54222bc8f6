import { setTimeout as sleep } from 'node:timers/promises';
import type { ReviewReport } from '../../core/guardrails/loop-report.ts';
import { inputToCheck } from '../../core/run/edited-input.ts';
import { apply, ignore, receive } from '../../core/run/messages.ts';
import { openRun } from '../../core/run/state.ts';
import { isCancelled, resultOfRun } from '../../core/run/life.ts';
import { runAgent } from '../../core/run/run-agent.ts';
import type {
  PlannerOutcome,
  PlannerView,
  PublishedState,
  ReviewOutcome,
  ReviewView,
  RunLogEvent,
  RunPorts,
} from '../../core/run/ports.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunMessage } from '../../protocol/messages.ts';
import type { RecallQuery, RunLesson } from '../../protocol/lessons.ts';
import type { QuestionNotice } from '../../protocol/notices.ts';
import type { RecordBatch, RunArchive } from '../../protocol/records.ts';
import type { PreparedRun, RunResult } from '../../protocol/run.ts';
import type { SubRunOutcome, SubRunRequest } from '../../protocol/sub-runs.ts';
import type {
  CallCancelled,
  CallOutcome,
  CheckedInput,
  CheckedOutput,
  InputToCheck,
  OutputToCheck,
  ReconcileOutcome,
  ToolCallRequest,
} from '../../protocol/tools.ts';
import { canonicalJson, sha256Hex } from '../../protocol/ids.ts';
import { VirtualClock } from './clock.ts';
import { seededRandom } from './seeded-random.ts';

/** The world around a simulated run. Everything is a plain function, and time is virtual. */
export interface World {
  /** Returns how a call ends. `duration_ms` of the outcome passes in virtual time. */
  call(request: ToolCallRequest): CallOutcome | Promise<CallOutcome>;
  reconcile?(request: ToolCallRequest): ReconcileOutcome | Promise<ReconcileOutcome>;
  /** Checks an output that a person gave with `done`; without it every output fits. */
  checkOutput?(request: OutputToCheck): CheckedOutput | Promise<CheckedOutput>;
  /** Checks an input that a person gave with `approve`; without it every input fits. */
  checkInput?(request: InputToCheck): CheckedInput;
  /** Returns how another agent's run ends. `duration_ms` passes in virtual time. */
  subRun?: (request: SubRunRequest) => SubRunOutcome | Promise<SubRunOutcome>;
  plan?: (view: PlannerView) => PlannerOutcome | Promise<PlannerOutcome>;
  review?: (view: ReviewView, send: Send) => ReviewReport | Promise<ReviewOutcome>;
  /** Called whenever the run publishes a new state. People can react now or later. */
  /** Sees every line that the run logs. */
  log?(event: RunLogEvent): void;
  react?(shown: PublishedState, send: Send): void;
  /** False if the store is unavailable. */
  storeIsUp?(): boolean;
  /** Returns lessons of earlier runs about a failure. */
  recall?(query: RecallQuery): RunLesson[];
}
export type Send = (afterMs: number, type: RunMessage['type'], body: unknown) => void;

export interface SimulationOptions {
  world: World;
  /** Decides at which batch boundaries the run continues as new, with its state as JSON. Share 0 means never. */
  seed?: number;
  handOverShare?: number;
  startAt?: number;
  /** Continues from this state, as after a continue-as-new, instead of opening the run. */
  from?: RunState;
  /** Called with the serialized state at each continue-as-new. */
  /** Changes the state before each turn of a planner and whenever the run shows a new state, so that a test can break what a rule relies on. */
  disturb?: ((state: RunState) => void) | undefined;
  onHandOver?: (state: string) => void;
}

export interface Simulated {
  /** How the run ended. */
  result: RunResult;
  state: RunState;
  records: RecordBatch[];
  archives: RunArchive[];
  /** Archives that the store did not take, which another workflow would write later. */
  archivesLater: RunArchive[];
  logs: RunLogEvent[];
  notices: QuestionNotice[];
  handOvers: number;
  calls: number;
}

/** Thrown if the run has not ended and no event is left that could continue it. */
export class StuckRunError extends Error {
  override readonly name = 'StuckRunError';
}

const START = Date.UTC(2030, 0, 1);
const REVIEW_MS = 1;

/** Simulates one run to its end, with the same code in core that the workflow runs. */
export async function simulateRun(run: PreparedRun, options: SimulationOptions): Promise<Simulated> {
  const { world, handOverShare = 0 } = options;
  const clock = new VirtualClock(options.startAt ?? options.from?.updated_at ?? START);
  const random = seededRandom(options.seed ?? 1);
  const simulated: Omit<Simulated, 'result'> = {
    state: options.from ?? openRun(run, clock.now),
    records: [],
    archives: [],
    archivesLater: [],
    logs: [],
    notices: [],
    handOvers: 0,
    calls: 0,
  };
  /** Conditions that are being waited for. They are checked after every message, as Temporal does. */
  const waiting = new Set<() => void>();
  const cancellations = new Set<() => void>();
  /** Number of world functions that have not returned yet. Virtual time stands still while there are any. */
  let atWork = 0;

  const asked = async <T>(ask: () => T | Promise<T>): Promise<T> => {
    atWork += 1;
    try {
      return await ask();
    } finally {
      atWork -= 1;
    }
  };
  const take = <T extends { duration_ms: number }>(outcome: T, cancelled: T): Promise<T> => {
    if (outcome.duration_ms <= 0) return Promise.resolve(outcome);
    return new Promise<T>((resolve) => {
      const startedAt = clock.now;
      const finish = (value: T) => {
        cancellations.delete(cancel);
        resolve(value);
      };
      const takeBack = clock.in(outcome.duration_ms, () => finish(outcome));
      const cancel = () => {
        takeBack();
        finish({ ...cancelled, duration_ms: clock.now - startedAt });
      };
      cancellations.add(cancel);
    });
  };

  const checkGivenInput = (received: ReturnType<typeof receive>): ReturnType<typeof receive> => {
    const { state } = simulated;
    const request = received.ok && received.message.type === 'answer' ? inputToCheck(state, received.message) : null;
    const checked = request === null ? undefined : world.checkInput?.(request);
    return checked?.ok === false ? { ok: false, problem: 'bad_body', errors: checked.problems } : received;
  };
  const send: Send = (afterMs, type, body) => {
    clock.in(afterMs, () => {
      const { state } = simulated;
      const received = checkGivenInput(receive(state, type, body));
      if (!received.ok) ignore(state, type, received.errors[0]?.message ?? received.problem, clock.now);
      else apply(state, received.message, clock.now);
      if (isCancelled(state)) for (const cancel of Array.from(cancellations)) cancel();
      for (const look of Array.from(waiting)) look();
    });
  };

  /** The inputs of writes that failed, as a workflow's history has them. */
  const leftInHistory: RecordBatch[] = [];
  const writeFromHistory = ({ from_history: isAsked }: RecordBatch): void => {
    if (isAsked === true) simulated.records.push(...leftInHistory.splice(0));
  };
  const storeIsUp = () => world.storeIsUp?.() ?? true;
  const cancelledCall: CallCancelled = { class: 'cancelled', duration_ms: 0 };
  const ports: RunPorts = {
    now: () => clock.now,
    until: (condition, ms) => {
      if (condition()) return Promise.resolve(true);
      return new Promise<boolean>((resolve) => {
        const look = () => {
          if (!condition()) return;
          takeBack();
          waiting.delete(look);
          resolve(true);
        };
        const takeBack = clock.in(ms, () => {
          waiting.delete(look);
          resolve(condition());
        });
        waiting.add(look);
      });
    },
    call: (request) => {
      simulated.calls += 1;
      const outcome = world.call(request);
      // Most worlds answer synchronously; only a promise has to be awaited.
      if (!(outcome instanceof Promise)) return take(outcome, cancelledCall);
      return asked(() => outcome).then((told) => take(told, cancelledCall));
    },
    reconcile: async (request) => {
      return asked(async () => (await world.reconcile?.(request)) ?? { verdict: 'unknown' });
    },
    checkOutput: async (request) => asked(() => world.checkOutput?.(request) ?? fitting(request)),
    subRun: async (request) => {
      const { subRun } = world;
      if (subRun === undefined)
        throw new TypeError('The simulated world has no `subRun`, but the run started another agent.');
      const lost: SubRunOutcome = { class: 'lost', why: 'it was stopped', duration_ms: 0 };
      return take<SubRunOutcome>(await asked(() => subRun(request)), lost);
    },
    callModel: async (view) => {
      const { plan } = world;
      if (plan === undefined) throw new TypeError('The simulated world has no `plan`, but the agent has a planner.');
      options.disturb?.(simulated.state);
      return take<PlannerOutcome>(await asked(() => plan(view)), { class: 'cancelled', duration_ms: 0 });
    },
    review: async (view) => {
      const review = world.review?.(view, send);
      if (review === undefined) return cancelledCall;
      if (review instanceof Promise) return asked(() => review);
      // A review takes time, so that messages sent meanwhile arrive before the loop is decided.
      await take({ duration_ms: REVIEW_MS }, { duration_ms: 0 });
      return { class: 'ok', review };
    },
    recall: async (query) => (storeIsUp() ? (world.recall?.(query) ?? []) : []),
    notify: (notice) => simulated.notices.push(notice),
    record: async (batch) => {
      if (!storeIsUp()) {
        leftInHistory.push(batch);
        return { saved: false, reason: 'the store is away' };
      }
      writeFromHistory(batch);
      simulated.records.push(batch);
      return { saved: true };
    },
    archive: async (archive) => {
      if (!storeIsUp()) return { saved: false, reason: 'the store is away' };
      writeFromHistory(archive.pending);
      simulated.archives.push(archive);
      return { saved: true };
    },
    archiveLater: async (archive) => {
      simulated.archivesLater.push(archive);
    },
    publish: (shown) => {
      options.disturb?.(simulated.state);
      world.react?.(shown, send);
    },
    log: (event) => {
      simulated.logs.push(event);
      world.log?.(event);
    },
    shouldHandOver: () => handOverShare > 0 && random() < handOverShare,
  };

  for (;;) {
    const how = await live(simulated.state, ports, clock, () => atWork > 0);
    if (how === 'ended') return { ...simulated, result: endOf(simulated.state) };
    simulated.handOvers += 1;
    const travelling = JSON.stringify(simulated.state);
    options.onHandOver?.(travelling);
    simulated.state = JSON.parse(travelling) as RunState;
  }
}

/** After this many turns a world function is waiting for something real, so polling slows down to free the core. */
const BUSY_TURNS = 100;

/**
 * Runs the story until it ends or continues as new. If a macrotask has passed and no world function is running, the
 * story can only be waiting, so the clock advances.
 */
async function live(state: RunState, ports: RunPorts, clock: VirtualClock, isAtWork: () => boolean) {
  let end: { how: 'ended' | 'hand_over' } | { error: unknown } | null = null;
  runAgent(state, ports).then(
    (how) => (end = { how }),
    (error: unknown) => (end = { error }),
  );
  let turnsAtWork = 0;
  for (;;) {
    await (turnsAtWork < BUSY_TURNS ? macrotask() : sleep(1));
    if (end !== null) break;
    turnsAtWork = isAtWork() ? turnsAtWork + 1 : 0;
    if (turnsAtWork > 0) continue;
    if (!clock.advance()) throw new StuckRunError(`The run ${state.run.run_id} waits for something that never comes.`);
  }
  const ended = end as { how: 'ended' | 'hand_over' } | { error: unknown };
  if ('error' in ended) throw ended.error;
  return ended.how;
}

function fitting({ output }: OutputToCheck): CheckedOutput {
  const text = canonicalJson(output);
  return { ok: true, output, inline: true, artifact_id: sha256Hex(text), bytes: text.length };
}

function endOf(state: RunState): RunResult {
  const result = resultOfRun(state);
  if (result === null) throw new TypeError(`The run ${state.run.run_id} ended without a result.`);
  return result;
}

/** Concurrent simulated runs wait for the same turn of the event loop, so one turn serves all of them. */
let nextTurn: Promise<void> | null = null;
function macrotask(): Promise<void> {
  nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTurn = null;
      resolve();
    });
  });
  return nextTurn;
}
