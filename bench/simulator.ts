/** Ten-step runs with the same code that the workflow runs. Every tenth has a failure, guidance and an escalation. */
import { createRegistry } from '../src/define/registry.ts';
import { defineAgent } from '../src/define/define-agent.ts';
import { defineTool } from '../src/define/define-tool.ts';
import { prepareRun } from '../src/define/prepare-run.ts';
import { sha256Hex } from '../src/protocol/ids.ts';
import type { CallOutcome, ToolCallRequest } from '../src/protocol/tools.ts';
import { simulateRun, type World } from '../src/testing/simulator/simulate-run.ts';
import { z } from 'zod';
import type { Figures } from './report.ts';
import { resultOfRun } from '../src/core/run/life.ts';

const STEPS = 10;
/** Concurrent runs that share each turn of the event loop, as many as in `simulate`, all on one core. */
const AT_ONCE = 16;

const tool = defineTool({ name: 'bench.step', effect: 'read', input: z.json(), output: z.json(), run: () => null });
const registry = createRegistry([defineAgent({ name: 'bench', tools: [tool] })]);
const plan = {
  steps: Array.from({ length: STEPS }, (_, index) => ({ phase: 'work', tool: tool.name, input: { index } })),
};

/** Outcomes are made beforehand, so that only the run itself is measured. */
const outcomes = Array.from({ length: STEPS + 1 }, (_, step): CallOutcome => {
  const text = JSON.stringify({ step });
  return {
    class: 'ok',
    output: { step },
    inline: true,
    artifact_id: sha256Hex(text),
    bytes: text.length,
    duration_ms: 1,
  };
});
const refused: CallOutcome = {
  class: 'failed',
  certainty: 'failed',
  origin: 'tool',
  category: 'unknown_error',
  error_code: 'EBENCH',
  message_preview: 'the fifth step fails three times',
  duration_ms: 1,
};

const smooth: World = { call: (request) => outcomes[request.step_id] ?? refused };
const troubled: World = {
  call: (request: ToolCallRequest) =>
    request.step_id === 5 && request.attempt <= 3 ? refused : (outcomes[request.step_id] ?? refused),
  react: (shown, send) => {
    if (shown.question) send(5, 'answer', { question_id: shown.question.question_id, decision: 'retry', by: 'bench' });
  },
};

export async function benchSimulator(runs: number): Promise<Figures> {
  const prepared = prepareRun({ agent: 'bench', goal: 'measure', plan }, registry, 'bench-run');
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.problems));
  let escalations = 0;
  const live = async (count: number): Promise<void> => {
    for (let first = 0; first < count; first += AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) =>
        simulateRun(prepared.prepared, { world: (first + index) % 10 === 0 ? troubled : smooth }),
      );
      for (const { state } of await Promise.all(batch)) {
        if (resultOfRun(state)?.outcome !== 'completed') throw new Error(`a run ended ${resultOfRun(state)?.outcome}`);
        escalations += state.ledger.questions.asked;
      }
    }
  };
  await live(Math.min(runs, 500));
  escalations = 0;
  const startedAt = performance.now();
  await live(runs);
  const seconds = (performance.now() - startedAt) / 1000;
  return { simulated_runs_per_s: runs / seconds, simulated_steps_per_s: (runs * STEPS) / seconds, escalations };
}
