import type { ToolSchemas } from '../../protocol/lessons.ts';
import type { ToolManifest } from '../../protocol/tools.ts';

/** The hashes of the schemas of these tools. A tool without a manifest, or without schemas, is left out. */
export function schemasOfTools(manifest: ToolManifest, tools: readonly string[]): ToolSchemas {
  const known = tools.map((tool) => [tool, manifest[tool]?.schema_hash ?? ''] as const);
  return Object.fromEntries(known.filter(([, hash]) => hash !== ''));
}

/**
 * Finds the tool whose schema has changed since a lesson was learnt: the lesson is then superseded, because it speaks about
 * arguments that may no longer exist. `learnt` has the schemas of each time that it was learnt, the latest first; one time
 * under the present schemas is enough for it to hold. Returns null if no schema changed or none is known.
 */
export function findChangedTool(learnt: readonly ToolSchemas[], now: ToolSchemas): string | null {
  const changes = learnt.map((schemas) =>
    Object.entries(schemas).flatMap(([tool, hash]) => (now[tool] === undefined || now[tool] === hash ? [] : [tool])),
  );
  return changes.some((tools) => tools.length === 0) ? null : (changes[0]?.[0] ?? null);
}

export const explainChangedTool = (tool: string): string =>
  `The schema of the tool ${tool} has changed since it was learnt, so no run sees it until it is learnt again.`;
