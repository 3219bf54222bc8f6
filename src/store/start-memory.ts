import type { EnhancementSwitch } from '../core/retry/switch-off.ts';
import { familyOf } from '../core/guardrails/loop-ids.ts';
import { MAX_LESSONS } from '../core/reflections/rank-lessons.ts';
import { firstCodePoints } from '../core/reflections/text.ts';
import { NOTHING_REMEMBERED, type RunLesson, type StartMemory } from '../protocol/lessons.ts';
import { LIMIT } from '../protocol/limits.ts';
import type { PreparedRun } from '../protocol/run.ts';
import { within } from '../protocol/within.ts';

/** What the start of a run reads; the real one is the store. */
export interface StartMemoryStore {
  reflections: {
    forRun(query: {
      scope: 'agent' | 'global';
      agent: string;
      tools: readonly string[];
      limit: number;
    }): Promise<readonly KnownLesson[]>;
  };
  enhancement: { currentSwitch(agent: string): Promise<EnhancementSwitch> };
  biasCounts: { elsewhere(family: string): Promise<Record<string, number>> };
}

export interface KnownLesson {
  id: number;
  content: string;
  tools: string[];
  fingerprint: string | null;
}

/** Memory is a help, never a gate: a start waits no longer for it. */
const DEADLINE_MS = 2_000;

/** What the memory beyond runs has to say to a run that is about to start; nothing, when it cannot be read in time. */
export async function loadStartMemory(
  store: Partial<StartMemoryStore>,
  prepared: PreparedRun,
  { log, deadlineMs = DEADLINE_MS }: { log?: (reason: string) => void; deadlineMs?: number } = {},
): Promise<StartMemory> {
  try {
    return await within(deadlineMs, () => read(store, prepared));
  } catch (error) {
    log?.(error instanceof Error ? error.message : String(error));
    return NOTHING_REMEMBERED;
  }
}

async function read(store: Partial<StartMemoryStore>, { agent, policy, manifest, loop_id }: PreparedRun) {
  const { reflections, enhancement, biasCounts } = store;
  const { scope } = policy.memory;
  const [lessons, current, elsewhere] = await Promise.all([
    scope === 'run' || reflections === undefined
      ? []
      : reflections.forRun({ scope, agent, tools: Object.keys(manifest), limit: MAX_LESSONS }),
    enhancement?.currentSwitch(agent),
    policy.bias.scope === 'global' && biasCounts !== undefined ? biasCounts.elsewhere(familyOf(loop_id)) : null,
  ]);
  const memory: StartMemory = {
    lessons: lessons.slice(0, MAX_LESSONS).map(toRunLesson),
    enhancement: current?.enhancement === 'off' ? { on: false, why: current.sentence } : { on: true },
    bias_elsewhere: elsewhere,
  };
  return memory;
}

/** A lesson as a run carries it: capped, for it lives in the run's state. */
export const toRunLesson = ({ id, content, tools, fingerprint }: KnownLesson): RunLesson => ({
  reflection_id: id,
  content: firstCodePoints(content, LIMIT.lessonChars),
  tools: tools.slice(0, MOST_TOOLS),
  fingerprint,
});

const MOST_TOOLS = 20;
