import { findMark } from '../../core/redaction/find-mark.ts';
import { log } from '@temporalio/activity';
import type { Redact } from '../../core/redaction/redact.ts';
import type { Tool } from '../../define/define-tool.ts';
import type { Registry } from '../../define/registry.ts';
import { problemsOf } from '../../define/zod-problems.ts';
import type { Json } from '../../protocol/json.ts';
import { toolActivity } from '../../protocol/names.ts';
import type {
  CallSucceeded,
  CheckedInput,
  CheckedOutput,
  InputToCheck,
  OutputToCheck,
  ReconcileOutcome,
  ToolCallRequest,
} from '../../protocol/tools.ts';
import { returnOrThrow, type ActivityCall, withHeartbeat } from '../run-in-activity.ts';
import type { ActivityStore } from '../store-port.ts';
import { outputInHistory } from '../unsaved-in-history.ts';
import { createStoreWait } from '../wait-for-store.ts';
import type { ToolEnvironment } from './tool-environment.ts';
import { keepLongInput } from './artifacts.ts';
import { checkGivenOutput } from './check-given-output.ts';
import { wasFrozenSince } from './freeze-watch.ts';
import { executeTool, reconcileTool } from './execute-tool.ts';

export interface ToolActivityDeps {
  registry: Registry;
  store: Pick<ActivityStore, 'artifacts'>;
  redact: Redact;
}

/**
 * Creates an activity `tool.<name>` for each tool, and `reconcile`, which asks a tool what became of an attempt without
 * an answer.
 */
export function createToolActivities({ registry, store, redact }: ToolActivityDeps) {
  const environment = (call: ActivityCall): ToolEnvironment => ({
    ...call,
    redact,
    now: () => Date.now(),
    waitForStore: createStoreWait(call),
    wasFrozenSince,
    log: ({ event, ...fields }) => log.info(event, fields),
    loadArtifact: async (id) => {
      const found = await store.artifacts.get(id);
      if (found === null) {
        // An output that could not be saved in time is in the history of the run.
        const unsaved = await outputInHistory(id);
        return unsaved === null ? undefined : (JSON.parse(unsaved) as Json);
      }
      const text = new TextDecoder().decode(found.bytes);
      return found.media_type === JSON_TYPE ? (JSON.parse(text) as Json) : text;
    },
    saveArtifact: async (id, content, media_type = JSON_TYPE) => {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
      await store.artifacts.putMany([{ id, bytes, media_type }]);
    },
  });
  const call =
    (tool: Tool) =>
    async (request: ToolCallRequest): Promise<CallSucceeded> =>
      returnOrThrow(
        await withHeartbeat(async (call) => {
          const env = environment(call);
          const [outcome] = await Promise.all([executeTool(tool, request, env), keepLongInput(request, env)]);
          return outcome;
        }),
      );
  const reconcile = async (request: ToolCallRequest): Promise<ReconcileOutcome> => {
    const tool = registry.tools.get(request.tool);
    if (tool === undefined) return { verdict: 'unknown' };
    return withHeartbeat((call) => reconcileTool(tool, request, environment(call)));
  };
  const checkOutput = async (request: OutputToCheck): Promise<CheckedOutput> => {
    const tool = registry.tools.get(request.tool);
    if (tool === undefined) return { ok: false, problem: `this worker does not know the tool ${request.tool}` };
    return withHeartbeat((call) => checkGivenOutput(tool, request, environment(call)));
  };
  const checkInput = async ({ tool: name, input }: InputToCheck): Promise<CheckedInput> => {
    const tool = registry.tools.get(name);
    if (tool === undefined) return refuseInput(`this worker does not know the tool ${name}`);
    const marked = findMark(input, '$.input');
    if (marked !== null) return refuseInput(MARKED, marked);
    const parsed = await tool.input.safeParseAsync(input);
    return parsed.success ? { ok: true } : { ok: false, problems: problemsOf(parsed.error, '$.input') };
  };
  const own = [...registry.tools.values()].filter(({ agent }) => agent === undefined);
  const tools = Object.fromEntries(own.map((tool) => [toolActivity(tool.name), call(tool)]));
  return { ...tools, reconcile, checkOutput, checkInput };
}

const refuseInput = (message: string, path = '$.input'): CheckedInput => ({ ok: false, problems: [{ path, message }] });

const MARKED =
  'this text was redacted when it was shown; send the real value, which an operator reads in the artifact of the input';

const JSON_TYPE = 'application/json';
