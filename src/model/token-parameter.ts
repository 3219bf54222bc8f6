import type { ModelEndpoint } from '../define/model-source.ts';

/** The name of the parameter for the longest answer. OpenAI's newer models refuse the older name, which other servers require. */
export type TokenParameter = 'max_tokens' | 'max_completion_tokens';

/** Endpoints that have refused the older name, remembered for the life of the process. */
const refusedOlder = new Set<string>();
const keyOf = ({ base_url, model }: ModelEndpoint): string => `${base_url} ${model}`;

export const chooseTokenParameter = (endpoint: ModelEndpoint): TokenParameter =>
  isOpenAi(endpoint) || refusedOlder.has(keyOf(endpoint)) ? 'max_completion_tokens' : 'max_tokens';

const isOpenAi = ({ base_url }: ModelEndpoint): boolean =>
  URL.canParse(base_url) && new URL(base_url).hostname === 'api.openai.com';

/** Returns true if the server refused the request only because of the older name, so that it can be sent with the newer one. */
export function learnTokenParameter(endpoint: ModelEndpoint, used: TokenParameter, error: unknown): boolean {
  const { statusCode, responseBody } = (error ?? {}) as { statusCode?: unknown; responseBody?: unknown };
  const isRefused = statusCode === 400 || statusCode === 422;
  const said = isRefused && typeof responseBody === 'string' ? responseBody : '';
  const wantsNewer = used === 'max_tokens' && /\bmax_tokens\b/.test(said) && said.includes('max_completion_tokens');
  if (wantsNewer) refusedOlder.add(keyOf(endpoint));
  return wantsNewer;
}
