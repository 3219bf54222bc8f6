import { defined } from '../../../protocol/json.ts';
import type { PlannerOutcome } from '../../../core/run/ports.ts';
import { decideCertainty } from '../../../core/retry/certainty.ts';
import { isInfrastructure } from '../../../core/retry/strategies.ts';
import { sha256Hex } from '../../../protocol/ids.ts';
import { CAP } from '../../../protocol/caps.ts';
import type { CallFailed, CallOutcome, ReconcileOutcome, ToolCallRequest } from '../../../protocol/tools.ts';
import type { Registry } from '../../../define/registry.ts';
import type { Simulated, World } from '../simulate-run.ts';
import { simulateSubRun } from '../sub-run.ts';
import { createDice } from './dice.ts';
import { drawReplies, drawUnaskedMessages } from './people.ts';
import { drawTurn } from './planner-behaviour.ts';
import { drawReview } from './reviewer-behaviour.ts';
import { DICE, drawScene, type Scene, seedOfInput } from './scene.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { drawBehaviour, type Failing, reconcileVerdict, tookEffect } from './tool-behaviour.ts';
import { effectOfTool } from './tool-table.ts';

/** Rules that a test can replace by wrong ones, to show that the simulator finds what they break. */
export interface WorldRules {
  /** How the certainty of a failure is decided. */
  certainty?: typeof decideCertainty;
  /** False: the receiver takes whatever arrives, however late. */
  checksFence?: boolean;
  /** True: a run forgets which effects are unknown. */
  forgetsUnknown?: boolean;
}

/** A run as it was observed from outside, so that a wrong ledger is noticed. */
export interface Observed {
  calls: number;
  turns: number;
  turnsMs: number;
  reviews: number;
  /** When each call was in flight, in running time. */
  busy: [from: number, to: number][];
  /** Who receives the side effects. */
  receiver: Receiver;
}

/** Thrown if a run makes far more calls than it may. Without it, such a run would never end. */
export class RunawayRunError extends Error {
  override readonly name = 'RunawayRunError';
}

/**
 * The scene as the simulator's world. No tool runs: its outcome is returned at once, which makes the simulation fast.
 * After `mostCalls` it throws.
 */
export function createHostileWorld(
  scene: Scene,
  mostCalls: number,
  registry: Registry,
  rules: WorldRules = {},
  seen: Observed = { calls: 0, turns: 0, turnsMs: 0, reviews: 0, busy: [], receiver: openReceiver(rules.checksFence) },
): { world: World; seen: Observed } {
  const store = createDice(scene.seed, DICE.store);
  const storeIsBad = store.chance(0.3);
  const questions = new Set<string>();
  let shownBefore = 0;
  const breakOff = (): void => {
    if (seen.calls + seen.turns > mostCalls) throw new RunawayRunError(`more than ${mostCalls} calls`);
  };
  const world: World = {
    call: (request) => {
      seen.calls += 1;
      breakOff();
      const outcome = outcomeOf(scene, request, rules);
      if (effectOfTool(request.tool) === 'side_effect') receive(scene, request, outcome, seen.receiver);
      const startedAt = scene.policy.budget.max_seconds * 1_000 - request.time_left_ms;
      // While a lost attempt may still act, it is under way for the run.
      const mayActMs = outcome.class === 'failed' ? (outcome.may_act_ms ?? 0) : 0;
      seen.busy.push([startedAt, startedAt + outcome.duration_ms + mayActMs]);
      return outcome;
    },
    subRun: async (request) => {
      const { sub_run_id, run_id, effects } = request;
      seen.receiver.startSubRun(
        sub_run_id,
        effects.unknown.map(({ key }) => key),
      );
      const { outcome, simulated } = await simulateSubRun(request, registry, (run) => {
        const drawn = drawScene(seedOfInput(request.input));
        const helper = { ...drawn, policy: run.policy, character: { ...drawn.character, instant: true, asks: false } };
        return createHostileWorld(helper, mostCalls, registry, rules, seen).world;
      });
      seen.receiver.endSubRun(sub_run_id, run_id);
      const passed = simulated === null ? [] : findExceededAmounts(simulated);
      if (passed.length > 0) throw new RunawayRunError(`the sub-run ${request.sub_run_id} passed ${passed.join(', ')}`);
      return outcome;
    },
    reconcile: (request) => {
      const hasHappened = seen.receiver.hasHappened(request);
      const verdict = reconcileVerdict(scene, request.step_id, request.attempt);
      // A frozen attempt has not acted yet, whatever it will do.
      const told = verdict === 'unknown' ? verdict : hasHappened ? 'done' : 'not_done';
      if (told !== 'unknown') seen.receiver.close(request.idempotency_key);
      return reconciled(told);
    },
    checkOutput: ({ output }) =>
      typeof output === 'number' || typeof output === 'string'
        ? { ok: true, ...kept(output) }
        : { ok: false, problem: '$: expected a number or a text' },
    log: ({ event, decision, key }) => {
      if (event !== 'effect_answered' || typeof key !== 'string') return;
      if (decision === 'done') seen.receiver.close(key);
      if (decision === 'not_done') seen.receiver.denyByPerson(key);
    },
    plan: (view) => {
      seen.turns += 1;
      breakOff();
      const turn = drawTurn(scene, view);
      const dice = createDice(scene.seed, DICE.planner, seen.turns);
      const duration_ms = scene.character.instant ? 0 : dice.int(0, Math.min(view.timeout_ms, 5_000));
      seen.turnsMs += duration_ms;
      if (turn.kind === 'fail') return failed(turn, duration_ms);
      const { kind: _kind, ...choice } = turn;
      return { class: 'ok', ...choice, duration_ms } satisfies PlannerOutcome;
    },
    review: ({ loop_id }) => {
      seen.reviews += 1;
      return drawReview(scene, loop_id);
    },
    react: (shown, send) => {
      shownBefore += 1;
      for (const { afterMs, type, body } of drawUnaskedMessages(scene, shownBefore)) send(afterMs, type, body);
      if (shown.question === null || questions.has(shown.question.question_id)) return;
      questions.add(shown.question.question_id);
      for (const { afterMs, type, body } of drawReplies(scene, shown.question)) send(afterMs, type, body);
    },
    storeIsUp: () => !(storeIsBad && store.chance(0.3)),
  };
  return { world, seen };
}

/** A helper's limits are its grant. If it exceeds none of them, neither does the run that asked it. */
function findExceededAmounts({ result }: Simulated): string[] {
  const { bound } = result;
  return (['steps', 'attempts', 'model_calls', 'tokens', 'cost_micro_usd'] as const).filter(
    (figure) => result.used[figure] > (bound[figure] ?? Infinity),
  );
}

/** What the call does to the world, which its outcome may not tell. */
function receive(scene: Scene, request: ToolCallRequest, outcome: CallOutcome, receiver: Receiver): void {
  const isLate = outcome.class === 'failed' && outcome.may_act_ms !== undefined;
  const acts = isLate ? 'later' : tookEffect(scene, request.step_id, request.attempt) ? 'now' : 'never';
  receiver.receive(request, acts, outcome.class !== 'failed' || outcome.certainty === 'done');
}

function outcomeOf(scene: Scene, request: ToolCallRequest, rules: WorldRules): CallOutcome {
  const { step_id, attempt, tool, timeout_ms } = request;
  const dice = createDice(scene.seed, DICE.tool, step_id, attempt, 2);
  const duration_ms = scene.character.instant ? 0 : dice.int(0, Math.min(timeout_ms, 20_000));
  const behaviour = drawBehaviour(scene, step_id, attempt);
  if (behaviour.kind === 'ok') return { class: 'ok', ...kept(behaviour.output), duration_ms };
  const effect = effectOfTool(tool);
  const how = behaviour.kind === 'fail' ? behaviour : badOutput(tool);
  const certainty = (rules.certainty ?? decideCertainty)(effect, how.certainty, 'failed');
  const outcome = { ...failed(how, duration_ms), certainty };
  const mayFreeze = scene.character.deploys && effect === 'side_effect' && certainty === 'unknown';
  return mayFreeze && dice.chance(0.3) ? { ...outcome, ...FROZEN, may_act_ms: dice.int(0, timeout_ms) } : outcome;
}

/** The worker is only frozen: its attempt counts as lost, and acts later. */
const FROZEN = { category: 'worker_lost', error_code: 'HEARTBEAT_LOST', origin: 'infrastructure' } as const;

function failed(how: Failing, duration_ms: number): CallFailed {
  const { category, certainty, code, message, retryAfterMs } = how;
  return {
    class: 'failed',
    certainty: certainty ?? 'failed',
    origin: isInfrastructure(category) ? 'infrastructure' : 'tool',
    category,
    error_code: code,
    message_preview: message,
    ...defined({ retry_after_ms: retryAfterMs }),
    duration_ms,
  };
}

const badOutput = (tool: string): Failing => ({
  kind: 'fail',
  category: 'contract_violation',
  certainty: effectOfTool(tool) === 'side_effect' ? 'done' : 'failed',
  code: 'INVALID_OUTPUT',
  message: '$: expected something else',
});

const reconciled = (verdict: 'done' | 'not_done' | 'unknown'): ReconcileOutcome =>
  verdict === 'done' ? { verdict, ...kept(0) } : { verdict };

type Kept = { output: number | string | null; inline: boolean; artifact_id: string; bytes: number };

/** There are only a dozen different outputs, so each is hashed once. */
const keptBefore = new Map<number | string, Kept>();
function kept(output: number | string): Kept {
  const text = JSON.stringify(output);
  const inline = text.length <= CAP.inlineOutputBytes;
  const made = keptBefore.get(output) ?? {
    output: inline ? output : null,
    inline,
    artifact_id: sha256Hex(text),
    bytes: text.length,
  };
  keptBefore.set(output, made);
  return made;
}
