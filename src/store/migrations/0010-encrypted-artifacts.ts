import { sql } from 'kysely';
import type { Migration } from 'kysely';

export const encryptedArtifacts: Migration = {
  up: async (db) => {
    await sql`alter table artifacts add column main_key text collate "C"`.execute(db);
    await sql`alter table artifacts add column data_key bytea`.execute(db);
    // Of an encrypted row only the reader can tell that id and size belong to the content; decryption checks the id.
    await sql`alter table artifacts drop constraint artifacts_check, drop constraint artifacts_check1`.execute(db);
    await sql`
      alter table artifacts
      add constraint artifacts_both_keys check ((main_key is null) = (data_key is null)),
      add constraint artifacts_id check (id ~ '^[0-9a-f]{64}$' and (main_key is not null or id = encode(sha256(content), 'hex'))),
      add constraint artifacts_bytes check (main_key is not null or bytes = length(content))`.execute(db);
  },
};
