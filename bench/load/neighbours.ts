import autocannon from 'autocannon';
import type { RunStatus } from '../../src/protocol/run.ts';
import type { Figures } from '../report.ts';
import type { LoadedServer } from './server.ts';

const WAITING = 20;
/** About 10 MB as JSON. */
const ITEMS = 120_000;
/** Few connections: what is measured is how long an answer can be held up, not how many there are. */
const CONNECTIONS = 2;

/**
 * Tools with outputs of 10 MB beside tools that only wait and send heartbeats. A waiting tool that is attempted twice has
 * lost its heartbeat.
 */
export async function loadNeighbours(server: LoadedServer, seconds: number): Promise<Figures> {
  const waiting = await Promise.all(
    Array.from({ length: WAITING }, () => start(server, 'neighbours.wait', { seconds: seconds + 5 })),
  );
  const asking = autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [{ method: 'GET', path: `/v1/runs/${waiting[0]}`, headers: server.headers }],
  });
  const until = Date.now() + seconds * 1_000;
  let lists = 0;
  let bytes = 0;
  while (Date.now() < until) {
    const ended = await end(server, await start(server, 'neighbours.list', { items: ITEMS }));
    if (ended.outcome !== 'completed') throw new Error(`A list ended ${ended.outcome}: ${ended.why}`);
    bytes = await sizeOfResult(server, ended);
    lists += 1;
  }
  const asked = await asking;
  const ends = await Promise.all(waiting.map((runId) => end(server, runId)));
  return {
    neighbours_large_outputs: lists,
    neighbours_large_output_bytes: bytes,
    neighbours_lost_heartbeats: ends.reduce((sum, { budget }) => sum + budget.used.attempts - 1, 0),
    neighbours_not_completed: ends.filter(({ outcome }) => outcome !== 'completed').length,
    neighbours_status_requests: asked.requests.total,
    neighbours_status_p50_ms: asked.latency.p50,
    neighbours_status_p99_ms: asked.latency.p99,
    neighbours_status_max_ms: asked.latency.max,
    neighbours_errors: asked.errors + asked.timeouts + asked.non2xx,
  };
}

async function start({ url, headers }: LoadedServer, tool: string, input: object): Promise<string> {
  const plan = { steps: [{ phase: 'work', tool, input }] };
  const body = JSON.stringify({ agent: 'neighbours', goal: 'live beside others', plan });
  const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  if (started.status !== 201) throw new Error(`The run did not start: ${await started.text()}`);
  return ((await started.json()) as { run_id: string }).run_id;
}

async function end({ url, headers }: LoadedServer, runId: string): Promise<RunStatus> {
  for (;;) {
    const status = (await (await fetch(`${url}/v1/runs/${runId}`, { headers })).json()) as RunStatus;
    if (status.state === 'ended') return status;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function sizeOfResult({ url, headers }: LoadedServer, { result }: RunStatus): Promise<number> {
  const id = result?.artifact_id ?? '';
  const answer = await fetch(`${url}/v1/artifacts/${id}`, { headers });
  if (!answer.ok) throw new Error(`The output ${id} cannot be read: ${answer.status}`);
  return (await answer.arrayBuffer()).byteLength;
}
