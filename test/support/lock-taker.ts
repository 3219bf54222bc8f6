/**
 * Tries to take the lock of a folder, prints whether it succeeded, and stays until its stdin closes. For the race in
 * keeper-lock.test.ts.
 */
import { takeFolderLock } from '../../src/stack/machine/folder-lock.ts';
import { ownIdentity } from '../../src/stack/machine/process-identity.ts';

process.stdin.once('data', () => {
  const result = takeFolderLock(process.argv[2] ?? '', ownIdentity());
  process.stdout.write(result.taken ? 'taken\n' : 'refused\n');
});
process.stdin.once('end', () => process.exit(0));
process.stdout.write('here\n');
