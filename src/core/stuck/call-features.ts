import { canonicalJson } from '../../protocol/ids.ts';
import { errorLine, judgeResult, type ResultKind } from './result-text.ts';
import { encodeWords, shortHash } from './word-codes.ts';

/** One call of a tool by any agent, with its answer. */
export interface ObservedCall {
  tool: string;
  input: unknown;
  /** The answer, as text or as JSON. Absent if the call was not answered. */
  output?: unknown;
  /** Whether the agent's own record says that the call failed. Absent if the record does not say. */
  error?: boolean | undefined;
  /** Hashes of the whole input and output, for callers that have only their beginnings. */
  input_id?: string | undefined;
  output_id?: string | undefined;
  /** Whether the tool can change something. Absent if that is not declared; then the name and the input decide. */
  writes?: boolean | undefined;
  /** True if a person wrote a message since the call before. */
  after_user?: boolean | undefined;
}

/** What is kept of a call: hashes, flags and codes of words. It contains no text, so it may be stored and shared. */
export interface CallFeatures {
  /** The number of the call, from 1. */
  n: number;
  tool: string;
  /** Equal for calls of the same tool with the same input. */
  call: string;
  /** Equal for equal answers; for errors, also if only digits, paths and quoted words differ. */
  outcome: string;
  kind: ResultKind;
  /** The tool can change something. */
  writes: boolean;
  /** The call looks for something or looks at something, so an empty answer means that it found nothing. */
  looks: boolean;
  /** What was looked for: the quoted part of the input or its query. Places that were searched are not part of it. */
  query: string;
  /** The beginning of the answer without times. Equal for two views of the same page. Null for a short answer. */
  head: string | null;
  /** Codes of the words of the answer and of the input. */
  said: string;
  asked: string;
  /** The share of the words of the answer that the tool had not said in its latest answers. */
  novelty: number;
  /** The largest overlap of words with an earlier input of the tool. */
  alike: number;
  /** This call had not had this outcome since the last change that the agent made. */
  fresh: boolean;
}

const TOOL_CHARS = 64;
const HEAD_CHARS = 160;
const LEAST_HEAD_CHARS = 40;
const WORDS_CHARS = 500;
const SAID_WORDS = 48;
const ASKED_WORDS = 32;
const COMMAND_CHARS = 500;
const TEXT_CHARS = 16_000;

const WRITING_TOOL =
  /(?:^|[^a-z])(?:edit|multiedit|write|insert|append|create|replace|str_replace\w{0,20}|apply|patch|update|delete|remove|move|rename|save|upload|post|put|send|book|cancel|exchange|return|modify|set|add|submit|commit|push|install)(?:[^a-z]|$)/i;
const WRITING_COMMAND =
  /^\s{0,20}(?:edit|create|insert|append|touch|mkdir|rm|mv|cp|chmod|chown|ln|git (?:add|commit|checkout|reset|push|merge|rebase|stash|apply)|pip3? install|npm (?:i|install|ci)|apt(?:-get)? install|export|unset|cd|sed -i|tee|patch|tar|unzip|kill|pkill)\b|(?<![-=0-9&<>])>{1,2}\s{0,5}[\w./~"'$]/i;
/** Searches of the web and of indexes. A search in a file answers with the lines found, not with its own words. */
export const SEARCH_TOOL = /search(?!_?(?:file|dir))/i;
const LOOKING =
  /(?:^|[^a-z])(?:find|grep|egrep|rg|ag|ack|search|query|look_?up|glob|locate|which|whereis|select|ls|dir|env|list|fetch|visit|browse|get|read|view|open|cat|head|tail|scroll|goto|page_?(?:down|up))(?:[^a-z]|$)/i;
const QUOTED = /"[^"\n]{1,200}"|'[^'\n]{1,200}'/g;
const TIMES =
  /\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|secs?|seconds?|mins?|minutes?|hours?)\b|(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)/gi;

/** Joins the strings and numbers of a JSON value, so that an answer in JSON is read like an answer in text. */
export const plainText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const parts: string[] = [];
  let chars = 0;
  const visit = (part: unknown, depth: number): void => {
    if (chars > TEXT_CHARS || depth > 20) return;
    if (typeof part === 'object' && part !== null) {
      for (const member of Object.values(part)) visit(member, depth + 1);
    } else if (typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean') {
      const text = String(part);
      chars += text.length + 1;
      parts.push(text);
    }
  };
  visit(value, 0);
  return parts.join('\n');
};

const memberOf = (input: unknown, names: readonly string[]): string | null => {
  if (typeof input !== 'object' || input === null) return null;
  const values = input as Record<string, unknown>;
  const name = names.find((key) => typeof values[key] === 'string');
  return name === undefined ? null : String(values[name]);
};

/** The command of a shell or interpreter; for other tools, the text of the input. */
const commandOf = (input: unknown): string =>
  typeof input === 'string' ? input : (memberOf(input, ['command', 'cmd', 'code', 'script', 'action']) ?? '');

const queryOf = (input: unknown): string => {
  const quoted = commandOf(input).slice(0, 1000).match(QUOTED);
  if (quoted !== null) return quoted.join(' ').replace(/["']/g, '');
  const named = memberOf(input, ['query', 'pattern', 'search_string', 'search_term', 'q', 'name']);
  return named ?? plainText(input).slice(0, 1000);
};

const headOf = (output: string): string =>
  output
    .slice(0, 2 * HEAD_CHARS)
    .replace(TIMES, '0')
    .replace(/\s{1,100}/g, ' ')
    .trim()
    .slice(0, HEAD_CHARS);

const isError = (kind: ResultKind): boolean => kind === 'failed' || kind === 'negative';

const kindWithoutText = ({ error }: ObservedCall): ResultKind => (error === true ? 'failed' : 'ok');

const outcomeOf = (call: ObservedCall, text: string, kind: ResultKind, n: number): string => {
  // A call without an answer is equal to no other call.
  if (call.output === undefined) return call.output_id === undefined ? `none ${n}` : shortHash(call.output_id);
  if (isError(kind)) return `!${shortHash(errorLine(text))}`;
  return shortHash(call.output_id ?? (typeof call.output === 'string' ? text : canonicalJson(call.output)));
};

/** Reduces a call to its features. `novelty`, `alike` and `fresh` depend on earlier calls; `observe` sets them. */
export const describeCall = (call: ObservedCall, identity: string, n: number): CallFeatures => {
  const output = plainText(call.output ?? '');
  const kind = call.output === undefined ? kindWithoutText(call) : judgeResult(output, call.error);
  const command = commandOf(call.input).slice(0, COMMAND_CHARS);
  const writes = call.writes ?? (WRITING_TOOL.test(call.tool) || WRITING_COMMAND.test(command));
  return {
    n,
    tool: call.tool.slice(0, TOOL_CHARS),
    call: identity,
    outcome: outcomeOf(call, output, kind, n),
    kind,
    writes,
    looks: !writes && (LOOKING.test(call.tool) || LOOKING.test(command.slice(0, 200))),
    query: shortHash(queryOf(call.input)),
    head: output.length < LEAST_HEAD_CHARS ? null : shortHash(headOf(output)),
    said: encodeWords(output.slice(0, WORDS_CHARS), SAID_WORDS),
    // Only searches are compared by the words of their input.
    asked: SEARCH_TOOL.test(call.tool) ? encodeWords(plainText(call.input).slice(0, WORDS_CHARS), ASKED_WORDS) : '',
    novelty: 1,
    alike: 0,
    fresh: true,
  };
};
