import { pointerOf } from '../../core/run/pointers.ts';
import type { Json } from '../../protocol/json.ts';

export type ResolvedInput = { ok: true; input: Json } | { ok: false; id: string };

/** Replaces each `{"$artifact": id}` with the stored content. Reports the first artifact that is missing. */
export async function resolveArtifacts(
  input: Json,
  load: (id: string) => Promise<Json | undefined>,
): Promise<ResolvedInput> {
  let missing: string | null = null;
  const resolve = async (value: Json): Promise<Json> => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return Promise.all(value.map(resolve));
    const pointer = pointerOf(value);
    if (pointer === null) {
      const entries = Object.entries(value).map(async ([key, inner]): Promise<[string, Json]> => [
        key,
        await resolve(inner),
      ]);
      return Object.fromEntries(await Promise.all(entries));
    }
    const found = pointer.kind === '$artifact' ? await load(pointer.id) : undefined;
    if (found === undefined) missing ??= pointer.id;
    return found ?? null;
  };
  const resolved = await resolve(input);
  return missing === null ? { ok: true, input: resolved } : { ok: false, id: missing };
}
