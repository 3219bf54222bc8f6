/** A small server on loopback plays Temporal's download address. Needs tar. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { archiveQuery, downloadCli } from '../../src/stack/temporal/download.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secondwind-test-download-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function archive(): Buffer {
  const content = join(folder, 'content');
  mkdirSync(content);
  writeFileSync(join(content, 'temporal'), 'the program');
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', content, 'temporal']);
  return readFileSync(join(folder, 'a.tar.gz'));
}

it('the program is taken out of the archive that the address names', async () => {
  const bytes = archive();
  const asked: string[] = [];
  const base = await serve((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/archive.tar.gz') response.end(bytes);
    else response.end(JSON.stringify({ archiveUrl: `${base}/archive.tar.gz`, fileToExtract: 'temporal' }));
  });
  expect(readFileSync(await downloadCli(folder, { base }), 'utf8')).toBe('the program');
  expect(asked[0]).toMatch(/^\/cli\/v1\.5\.1\?platform=(linux|darwin)&arch=(amd64|arm64)/);
});

it('no first byte in time: given up, although the connection stands', async () => {
  const base = await serve(() => {});
  const limits = { firstByteMs: 150, stallMs: 150 };
  await expect(downloadCli(folder, { base, limits })).rejects.toThrow(/no answer in 0.15 s|aborted/);
});

it('a download that stands still in the middle is given up', async () => {
  const base = await serve((request, response) => {
    if (request.url === '/archive.tar.gz') response.write('a few bytes');
    else response.end(JSON.stringify({ archiveUrl: `${base}/archive.tar.gz`, fileToExtract: 'temporal' }));
  });
  const limits = { firstByteMs: 5_000, stallMs: 150 };
  await expect(downloadCli(folder, { base, limits })).rejects.toThrow(/stood still|aborted/);
});

it('an answer that is no archive, or none at all, is an error and not a program', async () => {
  const base = await serve((request, response) => {
    if (request.url === '/archive.tar.gz') response.end('<html>Blocked by your company</html>');
    else response.end(JSON.stringify({ archiveUrl: `${base}/archive.tar.gz`, fileToExtract: 'temporal' }));
  });
  await expect(downloadCli(folder, { base })).rejects.toThrow('cannot be unpacked');
  const missing = await serve((_request, response) => response.writeHead(404).end());
  await expect(downloadCli(folder, { base: missing })).rejects.toThrow('answered 404');
});

it('a platform without a download is named', () => {
  expect(() => archiveQuery('freebsd', 'x64')).toThrow('no Temporal download for freebsd x64');
});
