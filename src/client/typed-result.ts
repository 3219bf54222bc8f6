import type { Agent } from '../define/define-agent.ts';
import { problemsOf } from '../define/zod-problems.ts';
import type { RunResult } from '../protocol/run.ts';
import { SecondwindError } from '../protocol/errors.ts';

type Ending = Pick<RunResult, 'run_id' | 'outcome' | 'result'>;
type Typed<End, Output> = Omit<End, 'result'> & Pick<RunResult<Output>, 'result'>;

/**
 * The ending with its output as the agent's schema has it. A run that did not complete may hand back something else, such as
 * the output of its last step: then there is no typed result, and the untyped one still has it.
 */
export function typedResult<End extends Ending, Output>(
  ended: End,
  agent: Agent<Output> | undefined,
): Typed<End, Output> {
  // Without a schema whatever JSON there is is what was asked for.
  if (agent?.output === undefined || ended.result === null) return ended as Typed<End, Output>;
  const parsed = agent.output.safeParse(ended.result.output);
  if (parsed.success) return { ...ended, result: { ...ended.result, output: parsed.data } };
  if (ended.outcome !== 'completed') return { ...ended, result: null };
  const [first] = problemsOf(parsed.error);
  throw new SecondwindError(
    'other_output',
    `The output of the run ${ended.run_id} does not fit the agent ${agent.name}: ${first?.path} ${first?.message}.`,
    'Read it without the agent, or with the version of the agent that it ran with.',
  );
}
