/**
 * Runs whose ids, tool names, object keys and values look like secrets. Each run has a twin of the same shape with plain words
 * instead, so that a test can compare how both end.
 */
import { z } from 'zod';
import { defineAgent } from '../../src/define/define-agent.ts';
import { defineTool } from '../../src/define/define-tool.ts';
import type { Json } from '../../src/protocol/json.ts';
import type { RunRequest } from '../../src/protocol/run.ts';
import { type SecretFormat, secretFormats } from './secret-formats.ts';

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,90}$/;

/** Tool names that look like secrets, and the one that a default password garbled. */
const secretNames = secretFormats(9)
  .map(({ secret }) => secret)
  .filter((secret) => TOOL_NAME.test(secret));
export const SECRET_TOOLS: readonly string[] = [...new Set(['postgres.query', ...secretNames])];

export interface Received {
  marker: number;
  text: string;
  key: string;
}

/** Agents whose tools answer with their input, under names like secrets (`secretive`) and under plain ones (`plain`). */
export function echoAgents(received: Received[]) {
  const echo = (name: string) =>
    defineTool({
      name,
      effect: 'idempotent',
      input: z.json(),
      output: z.json(),
      run: (input, { idempotencyKey }) => {
        const marker = (input as { marker?: number }).marker ?? -1;
        received.push({ marker, text: JSON.stringify(input), key: idempotencyKey });
        return input;
      },
    });
  return [
    defineAgent({ name: 'secretive', tools: SECRET_TOOLS.map(echo) }),
    defineAgent({ name: 'plain', tools: SECRET_TOOLS.map((_, index) => echo(`tool_${index}`)) }),
  ];
}

export interface SecretRun {
  request: RunRequest & { run_id: string };
  /** What its tools have to be given, in order. */
  inputs: string[];
  /** The values in it that are secrets. */
  secrets: string[];
}

/** The run number `index`, drawn from all formats, or its twin. The same index is always the same run. */
export function secretRun(index: number, prefix: string, isTwin = false): SecretRun {
  const formats = secretFormats(index + 1);
  const at = (offset: number): SecretFormat => formats[(index * 7 + offset * 13) % formats.length] as SecretFormat;
  const ids = formats.filter(({ secret }) => ID.test(secret)).map(({ secret }) => secret);
  const id = (offset: number): string =>
    isTwin ? `plain-${offset}` : (ids[(index * 5 + offset * 11) % ids.length] as string);
  const word = (offset: number): string => (isTwin ? `word ${offset}` : at(offset).text);
  const tool = (offset: number): string => {
    const number = (index * 3 + offset) % SECRET_TOOLS.length;
    return isTwin ? `tool_${number}` : (SECRET_TOOLS[number] as string);
  };
  const input = (offset: number): { [key: string]: Json } => ({
    marker: index,
    [word(offset)]: word(offset + 1),
    [`${word(offset + 2)} `]: [word(offset + 3), { password: word(offset + 4), token: index }],
    source: isTwin ? 'const plain = abcdefgh12;' : 'const secret = abcdefgh12; // password=correct-horse',
  });
  const [first, second] = [`${id(1)}_1`, `${id(2)}_2`];
  const inputs = [input(1), input(20)];
  const last = { marker: index, before: { $step: first }, list: [{ $step: second }] };
  return {
    request: {
      agent: isTwin ? 'plain' : 'secretive',
      goal: word(40),
      run_id: `${id(3)}-${prefix}-${index}${isTwin ? 't' : ''}`,
      plan: {
        steps: [
          { id: first, phase: 'work', tool: tool(0), input: inputs[0] as Json },
          { id: second, phase: 'work', tool: tool(1), input: inputs[1] as Json },
          { id: `${id(4)}_3`, phase: 'work', tool: tool(2), input: last },
        ],
      },
    },
    inputs: [...inputs, { marker: index, before: inputs[0] as Json, list: [inputs[1] as Json] }].map((given) =>
      JSON.stringify(given),
    ),
    secrets: formats.map(({ secret }) => secret),
  };
}
