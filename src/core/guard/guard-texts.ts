import { cleanName } from '../failures/clean-text.ts';
import { renderSuspicion } from '../failures/render-guidance.ts';
import type { InspectedLoop } from '../inspect/inspected-loop.ts';

/**
 * What an agent is told. The texts are made of counts and of the cleaned name of the tool, because the output of a tool
 * is data and must not become an instruction.
 */
const TOOL_CHARS = 40;

const where = ({ tool, start, end }: InspectedLoop): string =>
  `calls ${start} to ${end}${tool === null ? '' : ` of ${cleanName(tool, TOOL_CHARS)}`}`;

const startSmall = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/** A hint, for an agent that goes on. */
export const describeSuspicion = ({ rule, tool, signal, progress }: InspectedLoop): string =>
  `[secondwind] ${signal} ${renderSuspicion({ rule, tool_name: tool })} Progress would be: ${startSmall(progress)}`;

/** Why a call was not run. */
export const describeHeld = (loop: InspectedLoop): string =>
  `[secondwind] This call was not run, because it would continue a loop (${where(loop)}). ${loop.signal} Use another tool or another way, or tell the user what is missing.`;

/** Why an agent has to stop. */
export const describeStop = (loop: InspectedLoop): string =>
  `[secondwind] The agent is stuck (${where(loop)}). ${loop.signal} Progress would have been: ${startSmall(loop.progress)} Stop here, and tell the user what was tried and what is missing.`;
