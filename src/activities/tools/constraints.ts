import type { Json } from '../../protocol/json.ts';
import type { ConstraintOrigin, Constraints } from '../../protocol/tools.ts';
import { hostOf, isHost } from '../../define/hosts.ts';

export interface Denial {
  message: string;
  /** JSON path of the denied value. */
  path: string;
  origin: ConstraintOrigin | undefined;
}

/**
 * Finds a value in the input that an earlier failure has ruled out for this run, or returns null. The call is refused
 * before it starts, so it has no effect.
 */
export function findDenial(constraints: Constraints, input: Json): Denial | null {
  for (const [index, name] of (constraints.denied_arguments ?? []).entries()) {
    if (!hasArgument(input, name)) continue;
    return buildDenial(originOf(constraints, 'denied_arguments', index), `$.${name}`, `the argument ${name}`);
  }
  for (const [index, host] of (constraints.denied_hosts ?? []).entries()) {
    const path = pathOfHost(input, host);
    if (path !== null) return buildDenial(originOf(constraints, 'denied_hosts', index), path, `the host ${host}`);
  }
  return null;
}

/** The origins of one kind of constraint are listed in the order of the values they deny. */
function originOf(constraints: Constraints, constraint: ConstraintOrigin['constraint'], index: number) {
  const ofThisKind = (constraints.origins ?? []).filter((origin) => origin.constraint === constraint);
  return ofThisKind[index] ?? ofThisKind[0];
}

/**
 * The message names the failure by its fingerprint, which is the same in every run. With the failure's id, every
 * refusal would look like a new kind of failure.
 */
function buildDenial(origin: ConstraintOrigin | undefined, path: string, what: string): Denial {
  const because = origin === undefined ? '' : ` since failure ${origin.fingerprint}`;
  return { message: `${what} is denied to this run${because}; leave it out`, path, origin };
}

const hasArgument = (input: Json, name: string): boolean =>
  typeof input === 'object' && input !== null && !Array.isArray(input) && Object.hasOwn(input, name);

function pathOfHost(value: Json, denied: string, path = '$'): string | null {
  if (typeof value === 'string') return namesHost(value, denied) ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const found = pathOfHost(inner, denied, path + (isList ? `[${key}]` : `.${key}`));
    if (found !== null) return found;
  }
  return null;
}

/** Longer texts are not checked for hosts, because they are not URLs. */
const ADDRESS_CHARS = 4_000;

const namesHost = (text: string, denied: string): boolean => {
  if (text.length > ADDRESS_CHARS) return false;
  const host = hostOf(text) ?? hostOf(`http://${text.trim()}`);
  return host !== null && isHost(host, denied);
};
