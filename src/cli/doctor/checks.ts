import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connectApi } from '../../client/http/api-connection.ts';
import { encryptionKeyFile } from '../../encryption/settings.ts';
import type { Config } from '../config/read-config.ts';
import { readModelSettings } from '../../model/model-settings.ts';
import { prepareDataDir } from '../../stack/machine/data-dir.ts';
import { choosePort } from '../../stack/machine/ports.ts';
import { ownUrl } from '../ask/connect-remote.ts';
import { hostOf, telemetrySettings } from '../../telemetry/settings.ts';
import { tokenFile } from '../serve/token-file.ts';
import { failed, failedBy, type Finding, note, ok } from './finding.ts';

const OLDEST_NODE = [20, 19] as const;
const ANSWER_MS = 5_000;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldMajor, oldMinor] = OLDEST_NODE;
  if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return ok('node', `Node ${version}`);
  return failed('node', `Node ${version} is too old.`, `Install Node ${OLDEST_NODE.join('.')} or newer.`);
}

export async function checkDataFolder({ dataDir }: Config): Promise<Finding> {
  try {
    return ok('data folder', await prepareDataDir(dataDir));
  } catch (error) {
    return failedBy('data folder', error);
  }
}

/** A configured Temporal must answer. Otherwise its program must be installed, or is fetched at the first start. */
export async function checkTemporal({ temporalAddress, cacheDir }: Config, env: NodeJS.ProcessEnv): Promise<Finding> {
  const [{ checkTemporal: reach }, { findTemporalCli, CLI_SOURCES }] = await Promise.all([
    import('../../stack/temporal/external.ts'),
    import('../../stack/temporal/find-cli.ts'),
  ]);
  try {
    if (temporalAddress !== undefined) {
      await reach(temporalAddress);
      return ok('temporal', `${temporalAddress} answers`);
    }
    // A check only looks for the program and does not fetch it.
    const sources = { ...CLI_SOURCES, download: notNow, wheel: notNow, hasGo: async () => false };
    return ok('temporal', await findTemporalCli({ env, cacheDir, progress: () => {}, sources }));
  } catch (error) {
    if ((error as { code?: string }).code !== 'temporal_not_available') return failedBy('temporal', error);
    return note(
      'temporal',
      'The Temporal program is not installed yet.',
      'Nothing to do: the first `secondwind dev` fetches it. Without a network, set TEMPORAL_ADDRESS or TEMPORAL_CLI_PATH.',
    );
  }
}

const notNow = (): Promise<string> => Promise.reject(new Error('not fetched by a check'));

export async function checkStore({ databaseUrl, cacheDir }: Config): Promise<Finding> {
  try {
    if (databaseUrl === undefined) {
      const { preparePostgresBinaries } = await import('../../stack/postgres/binaries.ts');
      const { postgres } = await preparePostgresBinaries(cacheDir);
      return existsSync(postgres) ? ok('store', postgres) : failed('store', `${postgres} is missing.`, REINSTALL);
    }
    const { checkPostgres } = await import('../../stack/postgres/external.ts');
    await checkPostgres(databaseUrl);
    return ok('store', 'the database of DATABASE_URL answers');
  } catch (error) {
    return failedBy('store', error);
  }
}

const REINSTALL = 'Remove the folder `postgres` of the cache and start again, or set DATABASE_URL.';

/** Either the API answers on its port, or the port is free. */
export async function checkApi(config: Config, env: NodeJS.ProcessEnv): Promise<Finding> {
  const url = ownUrl(config, env);
  try {
    const { body } = await connectApi({ url, token: 'none', timeoutMs: ANSWER_MS }).ask<{ status: string }>(
      'GET',
      '/readyz',
    );
    return ok('api', `${url} is ${body.status}`);
  } catch (error) {
    const isOurs = typeof (error as { cause?: { status?: unknown } }).cause?.status === 'number';
    if (isOurs) return failedBy('api', error);
  }
  try {
    await choosePort('the API', config.port === 0 ? undefined : config.port, undefined);
    return note('api', `No API answers at ${url}, and the port is free.`, 'Start it when you need it: secondwind dev');
  } catch {
    const nextStep = 'Stop that program, or choose another port with --port or SECONDWIND_PORT.';
    return failed('api', `Port ${config.port} is taken by another program.`, nextStep);
  }
}

export async function checkToken({ tokens, dataDir }: Config): Promise<Finding> {
  if (tokens.length > 0) return ok('token', `${tokens.map(({ role }) => role).join(', ')} from the environment`);
  const file = tokenFile(dataDir);
  const found = await stat(file).catch(() => null);
  if (found === null) return note('token', 'There is no token yet.', 'Nothing to do: `secondwind dev` creates one.');
  if ((found.mode & 0o077) === 0) return ok('token', file);
  return failed('token', `${file} can be read by others.`, `chmod 600 ${file}`);
}

/** The key file of a data folder must be its owner's alone; that nothing is encrypted is worth knowing. */
export async function checkEncryption({ encryption, dataDir, temporalAddress }: Config): Promise<Finding> {
  const { state, keys } = encryption;
  const ids = keys.map(({ id }) => id).join(', ');
  if (state === 'on') return ok('encryption', `on; ${keys[0]?.id} encrypts, ${ids} can be read`);
  const next =
    'Set SECONDWIND_ENCRYPTION_KEYS, for example to the output of `echo "main-1:$(openssl rand -base64 32)"`.';
  if (state === 'off') return note('encryption', 'off, as SECONDWIND_ENCRYPTION says', next);
  if (temporalAddress !== undefined) return note('encryption', 'off for `worker` and `api`: no key is set', next);
  const file = encryptionKeyFile(dataDir);
  const found = await stat(file).catch(() => null);
  if (found === null) return note('encryption', 'There is no key yet.', 'Nothing: `secondwind dev` makes one.');
  if ((found.mode & 0o077) === 0) return ok('encryption', `on in \`dev\`, with ${file}`);
  return failed('encryption', `${file} can be read by others.`, `chmod 600 ${file}`);
}

/** A missing model is only a note, because not all agents need one. A configured model must work. */
export async function checkModel(env: NodeJS.ProcessEnv): Promise<Finding> {
  const settings = readModelSettings(env);
  if (!settings.ok) {
    const isWanted = Boolean(env['MODEL'] || env['OPENAI_BASE_URL']);
    const nextStep = 'Agents with instructions need a model; agents with a plan or a planner do not.';
    return isWanted ? failed('model', settings.problem, nextStep) : note('model', settings.problem, nextStep);
  }
  const { base_url, api_key, model } = settings.endpoint;
  const where = new URL(base_url).host;
  try {
    const response = await fetch(`${base_url.replace(/\/+$/, '')}/models`, {
      headers: api_key ? { authorization: `Bearer ${api_key}` } : {},
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'error',
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) {
      return failed('model', `${where} refuses the key (${response.status}).`, 'Correct OPENAI_API_KEY.');
    }
    if (response.ok) return ok('model', `${model} at ${where}`);
    // Not every server has a list of models, so any other answer only shows that the server is running.
    return note(
      'model',
      `${where} answers ${response.status} to a request for its list of models.`,
      'Start a run to try it; the model may still work.',
    );
  } catch {
    return failed(
      'model',
      `${where} does not answer.`,
      'Correct OPENAI_BASE_URL, or make sure that the server runs.',
      true,
    );
  }
}

/** Problems of telemetry are only notes, because they never stop a run. */
export async function checkTelemetry(env: NodeJS.ProcessEnv): Promise<Finding> {
  const settings = telemetrySettings(env);
  if (settings.state === 'off') return ok('telemetry', `off: ${settings.why}`);
  if (settings.state === 'unusable') return note('telemetry', `off: ${settings.problem}`, settings.nextStep);
  const told = `on, ${settings.protocol} to ${hostOf(settings.url)}, ${settings.content ? 'with' : 'without'} prompts and outputs`;
  try {
    // Sends an empty list of spans, which every collector accepts. Its key is sent only with spans.
    const response = await fetch(settings.url, {
      method: 'POST',
      headers: { 'content-type': settings.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf' },
      body: settings.protocol === 'http/json' ? '{"resourceSpans":[]}' : new Uint8Array(),
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    });
    await response.body?.cancel();
    if (response.ok || response.status === 401 || response.status === 403) return ok('telemetry', told);
    const next = 'Check that OTEL_EXPORTER_OTLP_ENDPOINT is the address without /v1/traces.';
    return note('telemetry', `${told}, which answers ${response.status}`, next);
  } catch {
    return note(
      'telemetry',
      `${told}, which does not answer`,
      'Runs continue without spans. Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT.',
    );
  }
}
