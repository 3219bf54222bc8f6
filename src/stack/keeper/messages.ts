import type { StackErrorData } from '../stack-error.ts';
import type { SearchAttributeTypes, StackPorts } from '../types.ts';

/** Messages between the keeper and its parent, one JSON object per line. */
export type ToKeeper = { kind: 'start'; plan: KeeperPlan } | { kind: 'stop' };

export type FromKeeper =
  | { kind: 'progress'; line: string }
  | ({ kind: 'ready' } & KeeperResult)
  | { kind: 'failed'; error: StackErrorData };

export interface KeeperPlan {
  /** A real, absolute path. */
  dataDir: string;
  parentPid: number;
  url?: string;
  ports: StackPorts;
  temporal?: { namespace: string; searchAttributes: SearchAttributeTypes; ui: boolean };
  postgres?: { settings: Record<string, string>; rootMode: 'auto' | 'unprivileged-user' };
}

export interface KeeperResult {
  temporal?: { port: number; uiPort?: number };
  postgres?: { port: number; databaseUrl: string };
}

export function encode(message: ToKeeper | FromKeeper): string {
  return `${JSON.stringify(message)}\n`;
}
