/** The dashboard in a real browser, over the API on a port, with a real Temporal, store and worker. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFailed, onTestFinished } from 'vitest';
import type { Role } from '../../../src/api/access.ts';
import type { ApiDeps } from '../../../src/api/api-context.ts';
import { type ServedApi, serveApi } from '../../../src/api/serve.ts';
import { findDashboard } from '../../../src/cli/serve/find-dashboard.ts';
import type { Agent } from '../../../src/define/define-agent.ts';
import { type ApiWorld, openApiWorld, tokenOf } from '../../support/api-world.ts';

export interface Opened {
  page: Page;
  context: BrowserContext;
  /** Requests to any other server. There must be none. */
  foreign: string[];
  /** What the page reported as errors, among them violations of the content security policy. */
  complaints: string[];
}
export interface OpenOptions {
  role?: Role;
  token?: string;
  dark?: boolean;
  width?: number;
  height?: number;
}

export interface DashboardWorld extends ApiWorld {
  served: ServedApi;
  /** Opens a page of the dashboard with a token, in a browser profile of its own. */
  open(path: string, options?: OpenOptions): Promise<Opened>;
}

export async function openDashboard(agents: Agent[], more: Partial<ApiDeps> = {}): Promise<DashboardWorld> {
  const dashboard = await findDashboard((line) => {
    throw new Error(line);
  });
  if (dashboard === undefined) throw new Error('The dashboard was not built.');
  const world = await openApiWorld(agents, { dashboard, ...more });
  await world.startWorker();
  const served = await serveApi(world.app, { host: '127.0.0.1', port: 0 });
  const browser: Browser = await chromium.connect(inject('browserEndpoint'));
  return {
    ...world,
    served,
    open: async (path, options = {}) => {
      const { role = 'operator', dark = false, width = 1440, height = 900 } = options;
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
        timezoneId: 'UTC',
        locale: 'en-GB',
      });
      const page = await context.newPage();
      const foreign: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(served.url) && !request.url().startsWith('blob:')) foreign.push(request.url());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        // A refused token or a run that is not there is shown on the page; the browser also logs the status.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(message.text());
      });
      page.on('request', (request) => {
        if (request.url().includes('token')) complaints.push(`a token was sent in ${request.url()}`);
      });
      onTestFailed(() => console.log(`The page said: ${complaints.join('\n')}`));
      onTestFinished(() => context.close());
      await page.goto(`${served.url}/ui${path}#token=${options.token ?? tokenOf(role)}`);
      return { page, context, foreign, complaints };
    },
    close: async () => {
      await browser.close();
      await served.close();
      await world.close();
    },
  };
}

/** Nothing left the machine, and the browser had no complaint. */
export function expectQuiet({ foreign, complaints }: Opened): void {
  expect(foreign).toEqual([]);
  expect(complaints).toEqual([]);
}
