import { connectClient } from '../../src/client/connect.ts';
import { createClient } from '../../src/client/create-client.ts';
import { createRegistry } from '../../src/define/registry.ts';
import type { LoopAnswer } from '../../src/core/guardrails/loop-answer.ts';
import { familyOf } from '../../src/core/guardrails/loop-ids.ts';
import { WORKFLOW_TYPE } from '../../src/protocol/names.ts';
import type { Figures } from '../report.ts';
import type { LoadedServer } from './server.ts';
import { sendLoad } from './send-load.ts';

const PATH = '/orchestrator/loop-complete';
/** How many families are queried at once at the end. */
const COUNTED_AT_ONCE = 20;

/** Reports loops of families until a guard or a good loop ends them. */
class Reporters {
  readonly #accepted = new Map<string, number>();
  readonly #unanswered = new Map<string, string>();
  readonly #next: string[] = [];
  #families = 0;

  get accepted(): ReadonlyMap<string, number> {
    return this.#accepted;
  }

  get unanswered(): readonly string[] {
    return [...this.#unanswered.values()];
  }

  /** The next loop of an open family, or else the first loop of a new one. */
  report(): string {
    const loopId = this.#next.shift() ?? `load-${(this.#families += 1)}`;
    // Families with one loop, with two, and with as many as the guards allow.
    const goodFrom = Number(familyOf(loopId).slice('load-'.length)) % 3;
    const isGood = Number(/_r(\d+)$/.exec(loopId)?.[1] ?? 0) >= goodFrom && goodFrom < 2;
    const reflection_result = { alignment_score: isGood ? 0.9 : 0.5, drift_score: 0.1 };
    const body = JSON.stringify({ loop_id: loopId, reflection_status: 'done', reflection_result });
    this.#unanswered.set(loopId, body);
    return body;
  }

  answered(status: number, body: string): void {
    if (status !== 200) return;
    const { loop_id, decision_result } = JSON.parse(body) as LoopAnswer;
    const family = familyOf(loop_id);
    if (!this.#unanswered.delete(loop_id)) throw new Error(`${loop_id} was answered twice.`);
    this.#accepted.set(family, (this.#accepted.get(family) ?? 0) + 1);
    if (decision_result.decision === 'rerun') this.#next.push(decision_result.new_loop_id);
  }
}

/** Reports loops, and then compares what Temporal decided with the answers, family by family. */
export async function loadLoops(server: LoadedServer, seconds: number): Promise<Figures> {
  const reporters = new Reporters();
  const shots = await sendLoad({
    server,
    name: 'loop_complete',
    seconds,
    request: {
      method: 'POST',
      path: PATH,
      setupRequest: (request) => ({ ...request, body: reporters.report() }),
      onResponse: (status, body) => reporters.answered(status, body),
    },
  });
  // Reports that were unanswered when time was up. Sending them again tells whether they were decided.
  const cutOff = reporters.unanswered;
  for (const body of cutOff) {
    const answer = await fetch(`${server.url}${PATH}`, { method: 'POST', headers: server.headers, body });
    reporters.answered(answer.status, await answer.text());
  }
  const { accepted } = reporters;
  const decided = await countDecided(server, [...accepted.keys()]);
  const wrong = [...accepted].filter(([family, count]) => decided.perFamily.get(family) !== count);
  return {
    ...shots,
    loops_asked_again: cutOff.length,
    loops_never_answered: reporters.unanswered.length,
    loop_families: accepted.size,
    loop_families_in_temporal: decided.families,
    loops_accepted: sum(accepted.values()),
    loops_decided_in_temporal: sum(decided.perFamily.values()),
    loop_families_that_differ: wrong.length + Math.abs(decided.families - accepted.size),
  };
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0);

/** Read from the guards themselves, not through the HTTP API. */
async function countDecided({ temporalAddress }: LoadedServer, families: string[]) {
  const client = await connectClient({ address: temporalAddress, namespace: 'default', env: {} });
  try {
    const { guards } = createClient({ temporal: client, registry: createRegistry([]) });
    const perFamily = new Map<string, number>();
    const left = [...families];
    const count = async (): Promise<void> => {
      for (let family = left.pop(); family !== undefined; family = left.pop()) {
        const { trace } = await guards.trace(family);
        perFamily.set(family, trace.filter(({ alignment_score }) => alignment_score !== null).length);
      }
    };
    await Promise.all(Array.from({ length: COUNTED_AT_ONCE }, count));
    const { count: inTemporal } = await client.workflow.count(`WorkflowType = '${WORKFLOW_TYPE.loopGuard}'`);
    return { perFamily, families: inTemporal };
  } finally {
    await client.connection.close();
  }
}
