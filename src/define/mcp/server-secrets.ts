import type { McpServer } from './mcp-tools.ts';

const SECRET_NAME = /auth|cookie|credential|key|passw|secret|token/i;
/** Letters and digits without a space, longer than usual words. */
const LOOKS_RANDOM = /^(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}$/;

/** Finds the secrets among a server's headers, environment variables and URL parameters, by their names or their format. */
export function findServerSecrets(server: McpServer): string[] {
  const named = server.url === undefined ? (server.env ?? {}) : { ...server.headers, ...urlParameters(server.url) };
  return Object.entries(named).flatMap(([name, value]) => {
    // Of `Bearer <key>` the key alone is a secret too, because a server may echo it.
    const parts = [value, ...value.split(/[\s=;,]+/)];
    return SECRET_NAME.test(name) ? parts : parts.filter((part) => LOOKS_RANDOM.test(part));
  });
}

const urlParameters = (url: string): Record<string, string> => Object.fromEntries(new URL(url).searchParams);
