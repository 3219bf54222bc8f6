interface Called {
  function?: { arguments?: unknown };
}
interface Body {
  choices?: { message?: { tool_calls?: Called[] } }[];
}

/**
 * Some servers send the arguments of a call as an object, although the protocol requires text, and the AI SDK refuses their answer.
 * Returns the corrected body, or null if the answer has another problem.
 */
export function bodyWithTextArguments(error: unknown): string | null {
  const { statusCode, responseBody } = (error ?? {}) as { statusCode?: unknown; responseBody?: unknown };
  if (statusCode !== 200 || typeof responseBody !== 'string') return null;
  try {
    const body = JSON.parse(responseBody) as Body;
    const calls = body.choices?.flatMap((choice) => choice.message?.tool_calls ?? []) ?? [];
    const odd = calls.flatMap(({ function: called }) =>
      called !== undefined && isObject(called.arguments) ? [called] : [],
    );
    for (const called of odd) called.arguments = JSON.stringify(called.arguments);
    return odd.length === 0 ? null : JSON.stringify(body);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
