import type { ModelEndpoint } from '../define/model-source.ts';

/** What the cap on an answer is called. OpenAI's newer models refuse the older name; many servers know only that one. */
export type TokenParameter = 'max_tokens' | 'max_completion_tokens';

/** Endpoints that have refused the older name: asked once in the life of a process. */
const refusedOlder = new Set<string>();
const keyOf = ({ base_url, model }: ModelEndpoint): string => `${base_url} ${model}`;

export const tokenParameterOf = (endpoint: ModelEndpoint): TokenParameter =>
  isOpenAi(endpoint) || refusedOlder.has(keyOf(endpoint)) ? 'max_completion_tokens' : 'max_tokens';

const isOpenAi = ({ base_url }: ModelEndpoint): boolean =>
  URL.canParse(base_url) && new URL(base_url).hostname === 'api.openai.com';

/** True when the server refused the question for the older name alone: with the newer one it may be asked again. */
export function learnTokenParameter(endpoint: ModelEndpoint, used: TokenParameter, error: unknown): boolean {
  const { statusCode, responseBody } = (error ?? {}) as { statusCode?: unknown; responseBody?: unknown };
  const isRefused = statusCode === 400 || statusCode === 422;
  const said = isRefused && typeof responseBody === 'string' ? responseBody : '';
  const wantsNewer = used === 'max_tokens' && /\bmax_tokens\b/.test(said) && said.includes('max_completion_tokens');
  if (wantsNewer) refusedOlder.add(keyOf(endpoint));
  return wantsNewer;
}
