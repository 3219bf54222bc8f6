import { type ApiConnection, connectApi } from '../client/http/api-connection.ts';
import { cleanName } from '../core/failures/clean-text.ts';
import { isRecord } from '../protocol/json.ts';

/** A running Secondwind API whose memory a guard shares. */
export interface GuardServer {
  url: string;
  token: string;
  /** The longest that a call of a tool waits for the server. Default: 1000. */
  timeoutMs?: number;
}

/** A lesson of earlier runs about a tool. It is shown once in a conversation. */
export interface ToolLesson {
  tool: string;
  text: string;
}

interface ReportedFailure {
  session: string;
  call: number;
  tool: string;
  message: string;
}

const TIMEOUT_MS = 1000;
/** After the server did not answer, calls do not wait for it for this long. */
const PAUSE_MS = 30_000;
const LESSONS = 50;
const SHOWN = 2;
const TEXT_CHARS = 400;
const MESSAGE_CHARS = 16_000;
/** The longest text in a query of the API. */
const QUERY_CHARS = 1000;

/**
 * The memory that a guard shares with a server. Every method resolves: what the server does not answer in time is left
 * out, and `onProblem` is told.
 */
export class ServerMemory {
  readonly #api: ApiConnection;
  readonly #agent: string;
  readonly #onProblem: (problem: unknown) => void;
  #pausedUntil = 0;

  constructor(
    { url, token, timeoutMs = TIMEOUT_MS }: GuardServer,
    agent: string,
    onProblem: (problem: unknown) => void,
  ) {
    this.#api = connectApi({ url, token, timeoutMs });
    this.#agent = agent;
    this.#onProblem = onProblem;
  }

  /** Returns the lessons of the agent that are about a tool, or null if the server did not answer. */
  async lessons(): Promise<ToolLesson[] | null> {
    const found = await this.#ask(async () => {
      const query = { agent: this.#agent, limit: LESSONS };
      return (await this.#api.ask('GET', '/v1/reflections', { query })).body;
    });
    if (found === null) return null;
    return rowsOf(found, 'reflections').flatMap(({ fingerprint, content }) => {
      // A fingerprint names its tool: fp1:tool_error:<tool>:<code>:<hash>.
      const tool = typeof fingerprint === 'string' ? fingerprint.split(':')[2] : undefined;
      const isUsable = tool !== undefined && tool !== '-' && typeof content === 'string';
      return isUsable ? [{ tool, text: content.slice(0, TEXT_CHARS) }] : [];
    });
  }

  /** Reports a failure and returns what the memory knows about it, one text per row. */
  async reportFailure({ session, call, tool, message }: ReportedFailure, recalls: boolean): Promise<string[]> {
    const body = {
      run_id: session,
      step_id: call,
      signal_type: 'tool_error',
      tool_name: cleanName(tool, 80),
      message: message.slice(0, MESSAGE_CHARS),
    };
    const query = { agent: this.#agent, similar_to: message.slice(0, QUERY_CHARS), limit: SHOWN };
    // Both requests start here, so that an error of either is caught here. One that nobody awaits would end the process.
    const answers = await this.#ask(() =>
      Promise.all([
        this.#api.ask('POST', '/v1/failures', { body }),
        recalls && message !== '' ? this.#api.ask('GET', '/v1/reflections', { query }) : null,
      ]),
    );
    return rowsOf(answers?.[1]?.body, 'reflections').flatMap(({ content }) =>
      typeof content === 'string' ? [content.slice(0, TEXT_CHARS)] : [],
    );
  }

  /** Reports that the agent was stuck. */
  async reportLoop(
    session: string,
    call: number,
    { tool, rule }: { tool: string | null; rule: string },
  ): Promise<void> {
    const tool_name = tool === null ? null : cleanName(tool, 80);
    const body = { run_id: session, step_id: call, signal_type: 'loop_stall', tool_name, error_code: rule };
    await this.#ask(() => this.#api.ask('POST', '/v1/failures', { body }));
  }

  async #ask<T>(request: () => Promise<T>): Promise<T | null> {
    if (Date.now() < this.#pausedUntil) return null;
    try {
      return await request();
    } catch (error) {
      this.#pausedUntil = Date.now() + PAUSE_MS;
      this.#onProblem(error);
      return null;
    }
  }
}

const rowsOf = (body: unknown, name: string): Record<string, unknown>[] => {
  const rows = isRecord(body) ? body[name] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
};
