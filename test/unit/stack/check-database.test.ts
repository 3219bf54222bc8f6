/** What the file of the dev server's database tells without the server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkDatabase } from '../../../src/stack/temporal/check-database.ts';

let dataDir: string;
const write = (text: string): void => writeFileSync(join(dataDir, 'temporal.db'), text);

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'secondwind-test-database-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
});

describe('the file of the Temporal database', () => {
  it('passes if it is a database', async () => {
    write(`SQLite format 3\0${'x'.repeat(100)}`);
    await expect(checkDatabase(dataDir)).resolves.toBeUndefined();
  });

  it('does not pass if it is gone, empty or overwritten', async () => {
    await expect(checkDatabase(dataDir)).rejects.toThrow('ENOENT');
    for (const text of ['', 'SQLite', 'x'.repeat(4_096)]) {
      write(text);
      await expect(checkDatabase(dataDir)).rejects.toThrow('is damaged');
    }
  });
});
