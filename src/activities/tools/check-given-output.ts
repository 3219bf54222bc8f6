import type { Tool } from '../../define/define-tool.ts';
import type { CheckedOutput, OutputToCheck } from '../../protocol/tools.ts';
import { checkSchemas, joinProblems, keepOutput } from './check-output.ts';
import type { ToolEnvironment } from './tool-environment.ts';

/**
 * Checks an output that a person gave for a call whose effect happened, and stores it if it is too large to travel.
 * @throws Error if the store does not take it. The activity is then retried.
 */
export async function checkGivenOutput(
  tool: Tool,
  request: OutputToCheck,
  env: ToolEnvironment,
): Promise<CheckedOutput> {
  const checked = await checkSchemas(tool, request, JSON.stringify(request.output));
  if (!checked.ok) return { ok: false, problem: joinProblems(checked.problems) };
  const { output, artifact_id, bytes, inline, carried, unsaved } = await keepOutput(checked.text, request, env);
  if (carried !== undefined || unsaved === true) throw new Error('The store is unavailable, so it has no output yet.');
  return { ok: true, output, artifact_id, bytes, inline };
}
