/** What the API serves below /ui/, as any HTTP client sees it. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiAgents } from '../support/api-agents.ts';
import { type DashboardWorld, openDashboard } from './support/dashboard-world.ts';

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboard(apiAgents);
});
afterAll(() => world.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(world.served.url + path, { headers, redirect: 'manual' });

describe('the files of the dashboard', () => {
  it('the root sends a browser to the dashboard and tells a program what the server is', async () => {
    const browser = await get('/', { accept: 'text/html,*/*' });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/ui/']);
    expect(await (await get('/', { accept: '*/*' })).json()).toMatchObject({ name: 'secondwind' });
  });

  it('the page allows only its own files, no inline script and no other server', async () => {
    const page = await get('/ui/');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(await page.text()).not.toMatch(/<script(?![^>]*src=)|style=|https?:/);
  });

  it('every address of a page answers with the page, and a missing file does not', async () => {
    for (const path of ['/ui/runs/run_1', '/ui/runs/run.1', '/ui/inbox'])
      expect((await get(path)).headers.get('content-type')).toContain('text/html');
    expect((await get('/ui/assets/old-build.js')).status).toBe(404);
  });

  it('no address reaches a file outside of the dashboard', async () => {
    for (const path of [
      '/ui/../package.json',
      '/ui/%2e%2e/package.json',
      '/ui/..%2f..%2fpackage.json',
      '/ui//etc/passwd',
    ])
      expect(await (await get(path, { authorization: 'Bearer operator-token-of-the-tests' })).text()).not.toMatch(
        /"dependencies"|root:/,
      );
  });

  it('files with a hash in their name are kept for ever and the page is asked for each time', async () => {
    const html = await (await get('/ui/')).text();
    const script = /src="(?<path>[^"]+\.js)"/.exec(html)?.groups?.['path'] ?? '';
    expect((await get(script)).headers.get('cache-control')).toContain('immutable');
    expect((await get('/ui/')).headers.get('cache-control')).toBe('no-cache');
  });

  it('the first view is at most 150 KB compressed', async () => {
    const html = await (await get('/ui/')).text();
    const paths = [...html.matchAll(/(?:src|href)="(?<path>\/ui\/[^"]+)"/g)].map(
      (match) => match.groups?.['path'] ?? '',
    );
    let bytes = gzipSync(html).byteLength;
    for (const path of paths) bytes += gzipSync(Buffer.from(await (await get(path)).arrayBuffer())).byteLength;
    console.log(`first view: ${(bytes / 1024).toFixed(1)} KB gzipped in ${paths.length + 1} files`);
    expect(paths.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(150 * 1024);
  });
});
