import type { z } from 'zod';
import { suggestName } from '../protocol/nearest-name.ts';
import type { RequestProblem } from '../protocol/run.ts';

export { suggestName };

/** Converts the issues of zod to problems with JSON paths. For an unknown key it suggests the nearest known one. */
export function problemsOf(
  error: z.ZodError,
  root = '$',
  knownKeysAt?: (path: PropertyKey[]) => string[],
): RequestProblem[] {
  return error.issues.flatMap((issue) => {
    const path = pathOf(root, issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: pathOf(path, [key]),
      message: `unknown key${suggestName(key, knownKeysAt?.(issue.path) ?? [])}`,
    }));
  });
}

export function pathOf(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`), root);
}
