/** Builds the dashboard and starts one Chromium for all files of the project. */
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { findChromium } from './find-chromium.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the browser that the tests share. */
    browserEndpoint: string;
  }
}

/** The network is closed, so the browser is told not to look for updates and the like. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const server = await chromium.launchServer({
    executablePath: findChromium(),
    args: [...QUIET, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
  project.provide('browserEndpoint', server.wsEndpoint());
  return () => server.close();
};
