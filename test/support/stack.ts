/** What a test file of the projects `stack` and `kill` takes from the shared stack: nothing that another file also uses. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import { findTemporalCli } from '../../src/stack/temporal/find-cli.ts';
import './provided.ts';
import { TEMPLATE_DATABASE, runAsAdmin, urlOfDatabase } from './template-database.ts';

/** The same for the test files of a process, different in every other: what comes after it has to be the file's own. */
export const idPrefix = `t${randomBytes(5).toString('hex')}`;

let taskQueues = 0;

export function uniqueTaskQueue(): string {
  taskQueues += 1;
  return `${idPrefix}-queue-${taskQueues}`;
}

let databases = 0;

/** A database of its own with the newest schema. It goes with the stack, nobody has to drop it. */
export async function createTestDatabase(): Promise<{ databaseUrl: string; name: string }> {
  databases += 1;
  const name = `${idPrefix}_${databases}`;
  const adminUrl = inject('databaseUrl');
  await runAsAdmin(adminUrl, `create database ${name} template ${TEMPLATE_DATABASE}`);
  return { databaseUrl: urlOfDatabase(adminUrl, name), name };
}

/** The `temporal` program of the shared stack, to do from outside what users do. */
export function temporalCli(): Promise<string> {
  return findTemporalCli({ env: process.env, cacheDir: cacheDir(process.env), progress: console.log });
}

export const workflowBundlePath = (): string => inject('bundlePath');
