import type { Redact } from '../../core/redaction/index.ts';
import type { Tool } from '../../define/define-tool.ts';
import type { Registry } from '../../define/registry.ts';
import type { Json } from '../../protocol/json.ts';
import { toolActivity } from '../../protocol/names.ts';
import type { CallSucceeded, ReconcileOutcome, ToolCallRequest } from '../../protocol/tools.ts';
import { returnOrThrow, type Surroundings, withHeartbeat } from '../run-in-activity.ts';
import type { ActivityStore } from '../store-port.ts';
import { executeTool, reconcileTool, type ToolEnvironment } from './execute-tool.ts';

export interface ToolActivityDeps {
  registry: Registry;
  store: Pick<ActivityStore, 'artifacts'>;
  redact: Redact;
}

/** Each tool is the activity `tool.<name>`; one more asks a tool what became of an attempt without an answer. */
export function createToolActivities({ registry, store, redact }: ToolActivityDeps) {
  const environment = (around: Surroundings): ToolEnvironment => ({
    ...around,
    redact,
    now: () => Date.now(),
    loadArtifact: async (id) => {
      const found = await store.artifacts.get(id);
      return found === null ? undefined : (JSON.parse(new TextDecoder().decode(found.bytes)) as Json);
    },
    saveArtifact: async (id, text) => {
      await store.artifacts.putMany([{ id, bytes: new TextEncoder().encode(text), media_type: 'application/json' }]);
    },
  });
  const call =
    (tool: Tool) =>
    async (request: ToolCallRequest): Promise<CallSucceeded> =>
      returnOrThrow(await withHeartbeat((around) => executeTool(tool, request, environment(around))));
  const reconcile = async (request: ToolCallRequest): Promise<ReconcileOutcome> => {
    const tool = registry.tools.get(request.tool);
    if (tool === undefined) return { verdict: 'unknown' };
    return withHeartbeat((around) => reconcileTool(tool, request, environment(around)));
  };
  const tools = Object.fromEntries([...registry.tools.values()].map((tool) => [toolActivity(tool.name), call(tool)]));
  return { ...tools, reconcile };
}
