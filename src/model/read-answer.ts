import type { Message, MessageCall } from '../core/transcript/message.ts';
import type { FailureCategory } from '../protocol/failure-categories.ts';
import type { Json } from '../protocol/json.ts';
import { findTooDeepPath } from '../protocol/json.ts';
import type { ModelCall, ModelCallProblem, ModelUsage } from '../protocol/model.ts';
import type { RequestProblem } from '../protocol/run.ts';
import type { Generated } from './generate.ts';
import { bytesOf, mostInputTokens } from './input-tokens.ts';
import { type JsonCheck, createJsonCheck, jsonFromText, describeProblems } from './json-check.ts';
import { ANSWER_CAP, type ModelRequest } from './request.ts';
import type { ToolNames } from './tool-names.ts';

/** What the model said is usable, or why not. */
export type ReadAnswer =
  | { usable: true; text: string; calls: ModelCall[]; output?: Json }
  | { usable: false; category: FailureCategory; error_code: string; message: string; problems: RequestProblem[] };

export function readAnswer(
  said: Generated,
  request: ModelRequest,
  names: ToolNames,
  checkOutput: JsonCheck | null,
): ReadAnswer {
  if (said.refusal !== null) return unusable('REFUSED', said.refusal, [], 'content_filter');
  switch (said.finish) {
    case 'content-filter':
      return unusable('CONTENT_FILTER', 'the provider’s filter ended the answer', [], 'content_filter');
    case 'length':
      return unusable('OUTPUT_CUT', `the answer was cut at ${request.max_output_tokens} tokens`);
    case 'error':
      return unusable('MODEL_ERROR', 'the model ended with an error', [], 'server_error');
    case 'stop':
    case 'tool-calls':
    case 'other':
      break;
  }
  if (said.text.length > ANSWER_CAP.textChars) {
    return unusable('ANSWER_TOO_LARGE', `the answer has more than ${ANSWER_CAP.textChars} characters`);
  }
  if (said.calls.length > ANSWER_CAP.calls) {
    return unusable('TOO_MANY_CALLS', `${said.calls.length} calls at once; ${ANSWER_CAP.calls} are the most`);
  }
  if (said.calls.length > 0) return { usable: true, text: said.text, calls: readCalls(said, request, names) };
  if (said.text.trim() === '') return unusable('EMPTY_ANSWER', 'the answer has neither text nor tool calls');
  if (checkOutput === null) return { usable: true, text: said.text, calls: [] };
  return readOutput(said.text, checkOutput);
}

const unusable = (
  error_code: string,
  message: string,
  problems: RequestProblem[] = [],
  category: FailureCategory = 'contract_violation',
): ReadAnswer => ({ usable: false, category, error_code, message, problems });

function readOutput(text: string, check: JsonCheck): ReadAnswer {
  const output = jsonFromText(text);
  if (output === undefined) return unusable('OUTPUT_NOT_JSON', 'the answer is not JSON', [{ path: '$', message: '' }]);
  const deep = findTooDeepPath(output);
  const problems = deep === null ? check(output) : [{ path: deep, message: 'nested too deep' }];
  if (problems.length > 0) return unusable('INVALID_OUTPUT', describeProblems(problems), problems);
  return { usable: true, text, calls: [], output };
}

function readCalls(said: Generated, request: ModelRequest, names: ToolNames): ModelCall[] {
  const taken = new Set(request.messages.flatMap(callIds));
  return said.calls.map(({ id, name, input }, index) => {
    const call_id = freeId(id, `call_${request.messages.length}_${index}`, taken);
    taken.add(call_id);
    const tool = names.fromWire(name) ?? name.slice(0, 128);
    const problem = checkCall(tool, input, request);
    const call = { call_id, tool, input: asObject(input) };
    return problem === null ? call : { ...call, problem };
  });
}

const callIds = (message: Message): string[] =>
  message.role === 'assistant' ? message.calls.map((call) => call.call_id) : [];

const ID_CHARS = 64;

/** Some models number their calls from 1 in every answer, but ids must be unique in a conversation. */
function freeId(given: string, otherwise: string, taken: ReadonlySet<string>): string {
  if (given !== '' && given.length <= ID_CHARS && !taken.has(given)) return given;
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? otherwise : `${otherwise}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function checkCall(tool: string, input: unknown, request: ModelRequest): ModelCallProblem | null {
  const declared = request.tools.find(({ name }) => name === tool);
  if (declared === undefined) {
    const known = request.tools.map(({ name }) => name).slice(0, 20);
    const message = `there is no tool named ${tool.slice(0, 80)}; there is: ${known.join(', ') || 'none'}`;
    return { error_code: 'UNKNOWN_TOOL', message, paths: [] };
  }
  const invalid = (problems: RequestProblem[]): ModelCallProblem => ({
    error_code: 'INVALID_ARGUMENTS',
    message: `the arguments of ${tool} do not fit: ${describeProblems(problems)}`,
    paths: problems.slice(0, 10).map((problem) => problem.path.slice(0, 120)),
  });
  const unreadable = (path: string, message: string): ModelCallProblem => ({
    ...invalid([{ path, message }]),
    error_code: 'UNREADABLE_ARGUMENTS',
  });
  // Arguments that are not valid JSON arrive as text.
  if (!isObject(input)) return unreadable('$', 'expected a JSON object');
  const deep = findTooDeepPath(input);
  if (deep !== null) return unreadable(deep, 'nested too deep');
  // If the schema cannot be read here, the tool itself checks the arguments.
  const problems = createJsonCheck(declared.input_schema)?.(input) ?? [];
  return problems.length === 0 ? null : invalid(problems);
}

const isObject = (input: unknown): input is MessageCall['input'] =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/** A conversation allows only objects as arguments. Others are stored as text and never executed. */
function asObject(input: unknown): MessageCall['input'] {
  if (isObject(input) && findTooDeepPath(input) === null) return input;
  return { unreadable_arguments: (typeof input === 'string' ? input : 'no JSON object').slice(0, 2_000) };
}

export function readUsage(said: Generated, request: ModelRequest): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens } = said;
  if (isCount(inputTokens) && isCount(outputTokens)) {
    return {
      input_tokens: Math.ceil(inputTokens),
      output_tokens: Math.ceil(outputTokens),
      ...(isCount(cachedInputTokens) && cachedInputTokens > 0
        ? { cached_input_tokens: Math.min(Math.ceil(cachedInputTokens), Math.ceil(inputTokens)) }
        : {}),
    };
  }
  return {
    input_tokens: mostInputTokens(request, '', null),
    output_tokens: Math.min(bytesOf([said.text, said.calls]), request.max_output_tokens),
    estimated: true,
  };
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
