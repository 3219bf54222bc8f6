import type { ToolEffect } from '../../../protocol/tools.ts';

interface HostileTool {
  name: string;
  effect: ToolEffect;
  approval: boolean;
  reconcile: boolean;
}

/** One tool of each kind that a run treats differently. */
export const HOSTILE_TOOLS: readonly HostileTool[] = [
  { name: 'hostile.look', effect: 'read', approval: false, reconcile: false },
  { name: 'hostile.put', effect: 'idempotent', approval: false, reconcile: false },
  { name: 'hostile.pay', effect: 'side_effect', approval: false, reconcile: false },
  { name: 'hostile.book', effect: 'side_effect', approval: false, reconcile: true },
  { name: 'hostile.launch', effect: 'side_effect', approval: true, reconcile: false },
];

export const effectOfTool = (name: string): ToolEffect =>
  HOSTILE_TOOLS.find((tool) => tool.name === name)?.effect ?? 'side_effect';

/** The tool that asks a helper agent. */
export const ASK_HELPER = 'hostile.ask';
