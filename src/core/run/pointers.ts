import type { Json } from '../../protocol/json.ts';
import { artifactOf, type Call } from './attempts.ts';
import type { RunState } from './state.ts';

/**
 * Resolves the pointers in an input: a value `{"$step": id}` or `{"$artifact": id}` points to an earlier output. Outputs
 * that the run still holds are put in place here, without I/O; for the others the tool's activity asks the store.
 */
export type ResolvedPointers = { ok: true; input: Json } | { ok: false; pointer: string };

export function resolvePointers(state: RunState, input: Json): ResolvedPointers {
  if (!hasPointer(input)) return { ok: true, input };
  let missing: string | null = null;
  const resolve = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    const pointer = pointerOf(value);
    if (pointer === null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
    }
    const artifactId = pointer.kind === '$artifact' ? pointer.id : artifactOfStep(state, pointer.id);
    if (artifactId === null) {
      missing ??= `${pointer.kind} ${pointer.id}`;
      return null;
    }
    const held = state.outbox.outputs[artifactId];
    return held === undefined ? { $artifact: artifactId } : held.output;
  };
  const resolved = resolve(input);
  return missing === null ? { ok: true, input: resolved } : { ok: false, pointer: missing };
}

export function pointerOf(value: Json): { kind: '$step' | '$artifact'; id: string } | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const kind = keys[0];
  if (keys.length !== 1 || (kind !== '$step' && kind !== '$artifact')) return null;
  const id = value[kind];
  return typeof id === 'string' ? { kind, id } : null;
}

/** Replaces every pointer by the id of its artifact, so that equal inputs in two passes have equal hashes. */
export function pinPointers(state: RunState, input: Json): Json {
  if (!hasPointer(input)) return input;
  const pin = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(pin);
    const pointer = pointerOf(value);
    if (pointer === null) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, pin(inner)]));
    return { $artifact: pointer.kind === '$artifact' ? pointer.id : artifactOfStep(state, pointer.id) };
  };
  return pin(input);
}

/** Lists every pointer inside a value with its JSON path. */
export function pointersIn(value: Json, path = '$'): { path: string; kind: '$step' | '$artifact'; id: string }[] {
  const pointer = pointerOf(value);
  if (pointer !== null) return [{ path, ...pointer }];
  if (Array.isArray(value)) return value.flatMap((inner, index) => pointersIn(inner, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => pointersIn(inner, `${path}.${key}`));
}

function hasPointer(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasPointer);
  return pointerOf(value) !== null || Object.values(value).some(hasPointer);
}

function artifactOfStep(state: RunState, id: string): string | null {
  const steps = state.run.plan?.steps ?? [];
  const index = steps.findIndex((step) => step.id === id);
  const done = state.loop.steps.find(({ call }) => call.plan_index === index);
  return done === undefined ? null : artifactOf(done);
}

/**
 * Input that a model wrote is data and never a pointer, so a model cannot read another run's results by naming them. Input that
 * a person wrote runs exactly as it was written.
 */
export const isLiteral = ({ run }: RunState, call: Call): boolean =>
  call.edited !== undefined || (run.model !== null && call.plan_index === null);
