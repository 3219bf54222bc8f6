import type { ToolEffect } from '../../protocol/tools.ts';

/** What each tool can change, by its name. Tools that are left out are judged by their name and input. */
export type Effects = Readonly<Record<string, ToolEffect>>;

export const effectOf = (effects: Effects, tool: string): ToolEffect | undefined =>
  Object.hasOwn(effects, tool) ? effects[tool] : undefined;
