import type { RunStatus } from '../../src/protocol/run.ts';
import type { Figures } from '../report.ts';
import type { LoadedServer } from './server.ts';
import { sendLoad } from './send-load.ts';

/**
 * Requests the status of a run that has ended, which comes from the store, and of an open run, which a worker answers.
 */
export async function loadStatus(server: LoadedServer, seconds: number): Promise<Figures> {
  const step = (fail_times: number) => ({ phase: 'acting', tool: 'demo.flaky', input: { fail_times } });
  const ended = await start(server, { plan: { steps: [step(0)] } }, 'ended');
  const patient = { retry: { base_ms: 300_000 } };
  const open = await start(server, { plan: { steps: [step(1)] }, policy: patient }, 'backing_off');
  const get = (runId: string) => ({ method: 'GET' as const, path: `/v1/runs/${runId}` });
  return {
    ...(await sendLoad({ server, name: 'status_of_ended', seconds, request: get(ended) })),
    ...(await sendLoad({ server, name: 'status_of_open', seconds, request: get(open) })),
  };
}

/** Starts a run and resolves when it is in that state. */
async function start({ url, headers }: LoadedServer, request: object, state: RunStatus['state']): Promise<string> {
  const body = JSON.stringify({ agent: 'demo', goal: 'be asked about', ...request });
  const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  if (started.status !== 201) throw new Error(`The run did not start: ${await started.text()}`);
  const { run_id } = (await started.json()) as { run_id: string };
  for (let asked = 0; asked < 300; asked += 1) {
    const answer = await fetch(`${url}/v1/runs/${run_id}`, { headers });
    if (((await answer.json()) as RunStatus).state === state) return run_id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The run ${run_id} did not come to ${state} within 30 s.`);
}
