/** SECONDWIND_REVIEWER in real processes, `worker` and `api`: who judges loops that are reported without a review. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { type ScriptedTurn, serveScriptedModel } from '../../src/testing.ts';
import { temporaryFolder } from '../support/own-stack.ts';
import { createTestDatabase } from '../support/stack.ts';
import { runCommand, startCommand } from './cli-process.ts';

/** Each loop's work is known to this file alone; what it says of it depends on the loop. */
const REVIEWER = `
export default async function review({ loop_id }, { judge }) {
  if (loop_id.startsWith('lost')) throw new Error('its work is nowhere');
  if (loop_id.startsWith('odd')) return { alignment_score: 7, drift_score: 0 };
  return judge({ goal: 'name the price', output: 'The price of ' + loop_id, steps: [{ tool: 'look', status: 'ok' }] });
}
`;
const SAGE: ScriptedTurn = { json: { alignment_score: 0.8, drift_score: 0.2, summary_valid: true, missed: ['VAT'] } };
const PESSIMIST: ScriptedTurn = { json: { bias_tags: [{ tag: 'overconfidence', why: 'it shows' }] } };

function reviewerFile(name: string, text: string): string {
  const file = join(temporaryFolder(name), 'reviewer.mjs');
  writeFileSync(file, text);
  return file;
}

function policyFile(policy: object): string {
  const file = join(temporaryFolder('policy'), 'policy.json');
  writeFileSync(file, JSON.stringify(policy));
  return file;
}

describe('the reviewer of a server', () => {
  it(
    'the reviewer of a server judges a report without a review once, with its model',
    { timeout: 120_000 },
    async () => {
      const model = await serveScriptedModel([SAGE, PESSIMIST]);
      onTestFinished(() => model.close());
      const env = {
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'none',
        MODEL: 'scripted',
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        DATABASE_URL: (await createTestDatabase()).databaseUrl,
        SECONDWIND_DATA_DIR: temporaryFolder('reviewer-data'),
        SECONDWIND_TOKEN: 'reviewer-token',
        SECONDWIND_REVIEWER: reviewerFile('reviewer', REVIEWER),
        SECONDWIND_POLICY: policyFile({ reruns: { max_reruns: 2, alignment_threshold: 0.78 } }),
      };
      const worker = startCommand(['worker'], env);
      const api = startCommand(['api', '--port', '0'], env);
      await worker.line(/^ready worker/);
      const url = (await api.line(/^ready (http:\S+)$/))[1] ?? '';
      const report = async (loop_id: string) => {
        const answer = await fetch(`${url}/orchestrator/loop-complete`, {
          method: 'POST',
          headers: { authorization: 'Bearer reviewer-token', 'content-type': 'application/json' },
          body: JSON.stringify({ loop_id, reflection_status: 'done' }),
        });
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };

      const id = `${Date.now().toString(36)}-${process.pid}`;
      const first = await report(`work-${id}`);
      expect(first).toMatchObject({
        status: 200,
        body: {
          reflection_result: { alignment_score: 0.8, drift_score: 0.2, reflection_persona: 'SAGE' },
          decision_result: { decision: 'finalize', finalize_reason: 'thresholds_met' },
        },
      });
      // The server's own policy applies to loops that run elsewhere.
      expect(first.body['decision_result']).toMatchObject({ max_reruns: 2 });
      expect(await report(`work-${id}`)).toEqual(first);
      expect(model.exchanges).toHaveLength(2);
      expect(JSON.stringify(model.exchanges[0])).toContain(`The price of work-${id}`);

      for (const [loopId, why] of [
        [`lost-${id}`, 'its work is nowhere'],
        [`odd-${id}`, '$.reflection_result.alignment_score: expected a number from 0 to 1'],
      ] as const) {
        const { status, body } = await report(loopId);
        expect([status, body['type']]).toEqual([422, 'urn:secondwind:problem:review_missing']);
        expect(body['detail']).toBe(
          `The reviewer of this server failed: ${why}. Send a reflection_result with the report, or report it again.`,
        );
      }
    },
  );

  it('an unusable policy is reported at the start, with the path of each problem', { timeout: 60_000 }, async () => {
    const { code, stderr } = await runCommand(['dev', '--data-dir', temporaryFolder('bad-policy'), '--port', '0'], {
      SECONDWIND_POLICY: policyFile({ reruns: { max_rerun: 1 }, retry: { enhance: false } }),
    });
    expect(code).toBe(2);
    expect(stderr).toContain('$.reruns.max_rerun: ');
    expect(stderr).toContain('$.retry: has no effect on loops that run elsewhere');
    expect(stderr).toContain('SECONDWIND_POLICY must name a JSON file');
  });

  it('an unusable reviewer is reported at the start, with the next step', { timeout: 60_000 }, async () => {
    const dataDir = temporaryFolder('bad-reviewer-data');
    for (const [file, word] of [
      [join(dataDir, 'nowhere.mjs'), 'cannot be loaded'],
      [reviewerFile('no-function', 'export const review = () => 1;'), 'has no function as its default export'],
    ] as const) {
      const { code, stderr } = await runCommand(['dev', '--data-dir', dataDir, '--port', '0'], {
        SECONDWIND_REVIEWER: file,
      });
      expect(code).toBe(2);
      expect(stderr).toContain(word);
      expect(stderr).toContain('SECONDWIND_REVIEWER must name a file');
    }
  });
});
