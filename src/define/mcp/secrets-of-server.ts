import type { McpServer } from './mcp-tools.ts';

const SECRET_NAME = /auth|cookie|credential|key|passw|secret|token/i;
/** Letters and digits without a gap, longer than words are. */
const LOOKS_RANDOM = /^(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}$/;

/** The values of a server's headers and variables that are secrets, by their names or by their looks. */
export function secretsOfServer(server: McpServer): string[] {
  const named = server.url === undefined ? (server.env ?? {}) : { ...server.headers, ...parametersOf(server.url) };
  return Object.entries(named).flatMap(([name, value]) => {
    // `Bearer <key>`: the key alone is what comes back.
    const parts = [value, ...value.split(/[\s=;,]+/)];
    return SECRET_NAME.test(name) ? parts : parts.filter((part) => LOOKS_RANDOM.test(part));
  });
}

const parametersOf = (url: string): Record<string, string> => Object.fromEntries(new URL(url).searchParams);
