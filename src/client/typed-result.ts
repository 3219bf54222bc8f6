import type { Agent } from '../define/define-agent.ts';
import { problemsOf } from '../define/zod-problems.ts';
import type { RunResult } from '../protocol/run.ts';
import { SecondwindError } from '../protocol/errors.ts';

type Ending = Pick<RunResult, 'run_id' | 'outcome' | 'result'>;
type Typed<End, Output> = Omit<End, 'result'> & Pick<RunResult<Output>, 'result'>;

/**
 * Parses the output of a run with the agent's schema. Throws if it does not match: a run that did not complete may return something
 * else, such as the output of its last step, which can still be read without the agent.
 */
export function typedResult<End extends Ending, Output>(
  ended: End,
  agent: Agent<Output> | undefined,
): Typed<End, Output> {
  // Without a schema, any JSON is valid.
  if (agent?.output === undefined || ended.result === null) return ended as Typed<End, Output>;
  const parsed = agent.output.safeParse(ended.result.output);
  if (parsed.success) return { ...ended, result: { ...ended.result, output: parsed.data } };
  if (ended.outcome !== 'completed') return { ...ended, result: null };
  const [first] = problemsOf(parsed.error);
  throw new SecondwindError(
    'other_output',
    `The output of the run ${ended.run_id} does not match the schema of the agent ${agent.name}: ${first?.path} ${first?.message}.`,
    'Read the result without the agent, or use the version of the agent that the run used.',
  );
}
