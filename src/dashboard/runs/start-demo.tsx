import { useState } from 'react';
import type { RunRequest } from '../../protocol/run.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Copyable } from '../parts/text.tsx';
import { goTo } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';

/** Fails twice with one fingerprint and then succeeds, so that the strip has something to show. */
const DEMO: RunRequest = {
  agent: 'demo',
  goal: 'See a failure, the guidance for the next attempt, and success',
  plan: {
    steps: [
      { phase: 'fetch', tool: 'demo.flaky', input: { fail_times: 2 } },
      { phase: 'check', tool: 'demo.flaky', input: { fail_times: 1, error_code: 'timeout' } },
      { phase: 'report', tool: 'demo.flaky', input: { fail_times: 0, output: { report: 'all good' } } },
    ],
  },
  labels: ['demo'],
};

/** Shown while there are no runs: starts the built-in demo with one click. */
export function StartDemo() {
  const { client, role } = useSession();
  const [isStarting, setStarting] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = async (): Promise<void> => {
    setStarting(true);
    try {
      const { run_id } = await client.runs.start(DEMO);
      goTo(`/runs/${encodeURIComponent(run_id)}`);
    } catch (failed) {
      setError(failed);
      setStarting(false);
    }
  };
  return (
    <div className="card empty">
      <h2>No runs yet</h2>
      <p className="soft">
        A run is the work of an agent from a goal to an outcome. Start the built-in demo: it fails, gets guidance, and
        succeeds, in a few seconds.
      </p>
      <p>
        <button
          className="button main"
          type="button"
          disabled={isStarting || role === 'viewer'}
          onClick={() => void start()}
        >
          {isStarting ? 'Starting…' : 'Start the demo'}
        </button>
      </p>
      {role === 'viewer' && <p className="faint small">Your token may only read. Use a reporter or operator token.</p>}
      <div className="command">
        <Copyable text={'npx secondwind run demo "try it"'} label="the command" />
      </div>
      {error !== undefined && <ProblemNotice error={error} />}
    </div>
  );
}
