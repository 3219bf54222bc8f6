import type { ModelEndpoint } from '../define/model-source.ts';

export type ModelSettings = { ok: true; endpoint: ModelEndpoint } | { ok: false; problem: string };

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** Reads the endpoint from the environment, or says what is missing. `MODEL` is required and names the model. */
export function readModelSettings(environment: Record<string, string | undefined>): ModelSettings {
  const base_url = environment['OPENAI_BASE_URL'] || DEFAULT_BASE_URL;
  const api_key = environment['OPENAI_API_KEY'];
  const model = environment['MODEL'];
  if (!model) return { ok: false, problem: 'no model is named: set MODEL, for example MODEL=gpt-5-mini' };
  if (!URL.canParse(base_url) || !/^https?:$/.test(new URL(base_url).protocol)) {
    return { ok: false, problem: 'OPENAI_BASE_URL is no http or https address: it looks like https://host/v1' };
  }
  if (!api_key && base_url === DEFAULT_BASE_URL) {
    return { ok: false, problem: 'OPENAI_API_KEY is not set: set it, or OPENAI_BASE_URL for a server without keys' };
  }
  return { ok: true, endpoint: { base_url, model, ...(api_key ? { api_key } : {}) } };
}
