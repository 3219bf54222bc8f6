import type { TranscriptMessage } from '../../client/views.ts';
import { colours } from './colours.ts';
import { safeLines, wrap } from './terminal-text.ts';

/** What a terminal shows of one message, in lines. */
const MESSAGE_LINES = 30;
const INDENT = '  ';

/** A conversation for people. With a width it is wrapped to it and long messages are cut; without one it is whole. */
export function transcriptLines(
  runId: string,
  transcript: readonly TranscriptMessage[],
  width: number | null,
): string[] {
  if (transcript.length === 0) return ['The model has not been asked yet.'];
  return transcript.flatMap((message, index) => [
    ...(index === 0 ? [] : ['']),
    colours.bold(`turn ${message.turn}  ${message.role}`),
    ...cutLines(runId, bodyLines(message, width), width),
  ]);
}

function bodyLines({ content, tool_calls: calls = [] }: TranscriptMessage, width: number | null): string[] {
  const texts = [
    ...(content === '' ? [] : [content]),
    ...calls.map(({ tool, input }) => `→ ${tool} ${JSON.stringify(input)}`),
  ];
  return texts
    .flatMap((text) => safeLines(text).split('\n'))
    .flatMap((line) => (width === null ? [line] : wrap(line, width - INDENT.length)))
    .map((line) => (INDENT + line).trimEnd());
}

function cutLines(runId: string, lines: string[], width: number | null): string[] {
  if (width === null || lines.length <= MESSAGE_LINES) return lines;
  const left = lines.length - MESSAGE_LINES;
  const hint = wrap(`… ${left} more lines: secondwind transcript ${runId} | less`, width - INDENT.length);
  return [...lines.slice(0, MESSAGE_LINES), ...hint.map((line) => INDENT + colours.dim(line))];
}
