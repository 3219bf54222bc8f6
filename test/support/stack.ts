/**
 * Helpers with which a test file of `stack` and `kill` uses the shared stack. Nothing of it is shared with another
 * file.
 */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { cacheDir } from '../../src/stack/machine/cache-dir.ts';
import { findTemporalCli } from '../../src/stack/temporal/find-cli.ts';
import './provided.ts';
import { TEMPLATE_DATABASE, runAsAdmin, urlOfDatabase } from './template-database.ts';

/** Shared by the test files of a process and different in every other process, so each file adds a name of its own. */
export const idPrefix = `t${randomBytes(5).toString('hex')}`;

let taskQueues = 0;

export function uniqueTaskQueue(): string {
  taskQueues += 1;
  return `${idPrefix}-queue-${taskQueues}`;
}

let databases = 0;

/** A database of its own with the latest schema. It is deleted with the stack. */
export async function createTestDatabase(): Promise<{ databaseUrl: string; name: string }> {
  databases += 1;
  const name = `${idPrefix}_${databases}`;
  const adminUrl = inject('databaseUrl');
  await runAsAdmin(adminUrl, `create database ${name} template ${TEMPLATE_DATABASE}`);
  return { databaseUrl: urlOfDatabase(adminUrl, name), name };
}

/** The `temporal` program of the shared stack, to do what users do on the command line. */
export function temporalCli(): Promise<string> {
  return findTemporalCli({ env: process.env, cacheDir: cacheDir(process.env), progress: console.log });
}

export const workflowBundlePath = (): string => inject('bundlePath');
