import { defined, isRecord, type Json } from '../../protocol/json.ts';
import type { InputChange } from '../../protocol/questions.ts';
import { toWellFormed } from '../../protocol/well-formed-text.ts';
import { isSecretName } from '../redaction/secret-names.ts';

const MOST_CHANGES = 10;
const VALUE_CHARS = 200;

/**
 * Lists the values that differ between two inputs, with their JSON paths. Lists of different lengths differ as a whole. The list
 * is capped, because it is part of the run's state; the artifacts of both inputs have everything.
 */
export function listChanges(from: Json, to: Json): InputChange[] {
  const found: InputChange[] = [];
  collect(from, to, '$', found);
  if (found.length <= MOST_CHANGES) return found;
  const more = found.length - MOST_CHANGES + 1;
  return [...found.slice(0, MOST_CHANGES - 1), { path: '$', to: `… ${more} more changes` }];
}

function collect(from: Json | undefined, to: Json | undefined, path: string, found: InputChange[]): void {
  if (isRecord(from) && isRecord(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
      collect(ownMember(from, key), ownMember(to, key), `${path}.${key}`, found);
  } else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [index, value] of from.entries()) collect(value, to[index], `${path}[${index}]`, found);
  } else if (JSON.stringify(from) !== JSON.stringify(to)) {
    found.push({ path, ...defined({ from: shorten(from), to: shorten(to) }) });
  }
}

const ownMember = (value: Record<string, unknown>, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? (value[key] as Json) : undefined;

function shorten(value: Json | undefined): Json | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= VALUE_CHARS ? value : `${toWellFormed(text.slice(0, VALUE_CHARS))}…`;
}

/** Describes changes in words: `$.amount from 500 to 50`. The value of a member whose name says that it is secret is left out. */
export const describeChanges = (changes: readonly InputChange[]): string => changes.map(describeChange).join(', ');

function describeChange({ path, from, to }: InputChange): string {
  if (isSecretName(lastName(path))) return `${path} (a secret)`;
  const show = (value: Json): string => JSON.stringify(value);
  if (from === undefined) return to === undefined ? path : `${path} added as ${show(to)}`;
  return to === undefined ? `${path} removed` : `${path} from ${show(from)} to ${show(to)}`;
}

/** The name of the member that a path ends with. */
export const lastName = (path: string): string => /\.([^.[\]]+)(?:\[\d+\])*$/.exec(path)?.[1] ?? '';
