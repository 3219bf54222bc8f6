import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StackError } from '../stack-error.ts';
import { runCommand } from '../machine/run-command.ts';
import { TEMPORAL_CLI_VERSION } from './cli-version.ts';

const TEMPORAL_DOWNLOADS = 'https://temporal.download';

interface DownloadLimits {
  /** Behind many firewalls the connection hangs for minutes instead of failing. */
  firstByteMs: number;
  stallMs: number;
}

const DOWNLOAD_LIMITS: DownloadLimits = { firstByteMs: 10_000, stallMs: 30_000 };

/**
 * Downloads the command line from where the SDK itself does: a URL that returns the archive's URL and the name of the
 * file in it. Puts `temporal` into `folder`.
 */
export async function downloadCli(
  folder: string,
  { base = TEMPORAL_DOWNLOADS, limits = DOWNLOAD_LIMITS, progress = (_line: string): void => {} } = {},
): Promise<string> {
  const alarm = new Alarm(limits.firstByteMs, `no answer in ${limits.firstByteMs / 1000} s`);
  try {
    const info = await archiveInfo(base, alarm.signal);
    const response = await fetch(info.archiveUrl, { signal: alarm.signal });
    if (!response.ok || !response.body) throw new Error(`${info.archiveUrl} answered ${response.status}`);
    const archive = join(folder, 'archive.tar.gz');
    const total = Number(response.headers.get('content-length') ?? 0);
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        alarm.restart(limits.stallMs, `the download stood still for ${limits.stallMs / 1000} s`);
        report.add(chunk.length);
        done(null, chunk);
      },
    });
    const report = new ByteReport(total, progress);
    await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(archive), { signal: alarm.signal });
    return await unpack(archive, info.fileToExtract, folder);
  } finally {
    alarm.off();
  }
}

export function archiveQuery(platform = process.platform, arch = process.arch): string {
  const goPlatform = { linux: 'linux', darwin: 'darwin' }[platform as string];
  const goArch = { x64: 'amd64', arm64: 'arm64' }[arch as string];
  if (!goPlatform || !goArch) {
    throw new StackError(
      'unsupported_platform',
      `There is no Temporal download for ${platform} ${arch}.`,
      'Set TEMPORAL_ADDRESS to a Temporal that runs elsewhere.',
    );
  }
  return `platform=${goPlatform}&arch=${goArch}&format=tar.gz`;
}

async function archiveInfo(base: string, signal: AbortSignal): Promise<{ archiveUrl: string; fileToExtract: string }> {
  const response = await fetch(`${base}/cli/${TEMPORAL_CLI_VERSION}?${archiveQuery()}`, { signal });
  if (!response.ok) throw new Error(`${base} answered ${response.status}`);
  const info: Partial<Record<'archiveUrl' | 'fileToExtract', unknown>> = JSON.parse(await response.text());
  if (typeof info.archiveUrl !== 'string' || typeof info.fileToExtract !== 'string') {
    throw new TypeError(`${base} did not return the URL of an archive`);
  }
  return { archiveUrl: info.archiveUrl, fileToExtract: info.fileToExtract };
}

async function unpack(archive: string, file: string, folder: string): Promise<string> {
  const { ok, output } = await runCommand('tar', ['-xzf', archive, '-C', folder, '--', file]);
  if (!ok) throw new Error(`the archive cannot be unpacked: ${output}`);
  const unpacked = join(folder, 'temporal');
  if (join(folder, file) !== unpacked) await rename(join(folder, file), unpacked);
  return unpacked;
}

/** Aborts with a clear reason unless it is restarted in time. */
class Alarm {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(ms: number, reason: string) {
    this.#timer = this.#set(ms, reason);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(ms: number, reason: string): void {
    this.off();
    this.#timer = this.#set(ms, reason);
  }

  off(): void {
    clearTimeout(this.#timer);
  }

  #set(ms: number, reason: string): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new Error(reason)), ms);
  }
}

class ByteReport {
  readonly #total: number;
  readonly #progress: (line: string) => void;
  #bytes = 0;
  #nextAt = Date.now() + 3_000;

  constructor(total: number, progress: (line: string) => void) {
    this.#total = total;
    this.#progress = progress;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (Date.now() < this.#nextAt) return;
    this.#nextAt = Date.now() + 3_000;
    const of = this.#total > 0 ? ` of ${megabytes(this.#total)}` : '';
    this.#progress(`Temporal: downloaded ${megabytes(this.#bytes)}${of} MB`);
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(0);
}
