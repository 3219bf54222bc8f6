import type { ModelEndpoint } from '../define/model-source.ts';

/** The names of an endpoint's settings, for messages to people who have to change them. */
export interface SettingNames {
  base_url: string;
  api_key: string;
}
export const ENVIRONMENT: SettingNames = { base_url: 'OPENAI_BASE_URL', api_key: 'OPENAI_API_KEY' };
export const OWN: SettingNames = { base_url: 'the base_url of the model', api_key: 'the api_key of the model' };

/** Returns a hint if wrong settings can explain the refusal of a server, otherwise an empty text. */
export function setupHint({ base_url, api_key }: ModelEndpoint, error: unknown, names: SettingNames): string {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  if (statusCode === 401) {
    return api_key === undefined ? `no key was sent: set ${names.api_key}` : `the key comes from ${names.api_key}`;
  }
  const isOdd = !URL.canParse(base_url) || !/\/v\d+\w*\/?$/.test(new URL(base_url).pathname);
  return statusCode === 404 && isOdd ? `${names.base_url} usually ends in /v1` : '';
}
