import type { Json } from '../../protocol/json.ts';
import type { Store } from '../../store/store.ts';

/** Artifacts that are JSON, by their ids. Missing ones are left out. */
export async function readJsonArtifacts(
  store: Store | undefined,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Json>> {
  const found = ids.length === 0 ? [] : ((await store?.artifacts.getMany([...new Set(ids)])) ?? []);
  return new Map(found.map(({ id, bytes }) => [id, JSON.parse(new TextDecoder().decode(bytes)) as Json]));
}
