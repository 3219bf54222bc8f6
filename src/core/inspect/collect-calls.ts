import { plainText } from '../stuck/call-features.ts';
import { createStuckState, observe, type StuckState } from '../stuck/observe.ts';
import type { LoopPolicy } from '../failures/loop-watch.ts';
import type { Verdict } from '../stuck/verdict.ts';
import { shortHash } from '../stuck/word-codes.ts';
import type { TranscriptEvent } from './events.ts';
import { type CallExample, CallTrail } from './call-trail.ts';
import { describeFailure, fingerprintAnswer, type InspectedFailure } from './inspected-failure.ts';
import { addVerdict, type InspectedLoop } from './inspected-loop.ts';

interface OpenCall {
  n: number;
  tool: string;
  input: unknown;
  afterUser: boolean;
}

interface ToolUse {
  count: number;
  inputs: Set<string>;
  outcomes: Set<string>;
}

/** Of each tool, this many different inputs and answers are told apart. */
export const DISTINCT = 500;
const FINGERPRINTS = 500;

/** Pairs calls with results, lets the detector see them, and collects what a report needs. */
export class CallCollector {
  loops: InspectedLoop[] = [];
  readonly failures = new Map<string, InspectedFailure>();
  readonly tools = new Map<string, ToolUse>();
  readonly trail = new CallTrail();
  /** Calls that show a loop, by the number of the loop's first call. */
  readonly examples = new Map<number, CallExample[]>();
  calls = 0;
  unanswered = 0;
  hasTokens = false;
  /** Output tokens between a call and the next one, by the number of the call before. */
  readonly tokens: number[] = [];
  readonly #policy: LoopPolicy;
  #state: StuckState = createStuckState();
  #open: (OpenCall & { id: string | null })[] = [];
  /** The number of each call in the order in which the calls were answered. */
  readonly #numbers: number[] = [];
  readonly #seenCalls = new Set<string>();
  readonly #seenMessages = new Map<string, number>();
  #afterUser = false;

  constructor(policy: LoopPolicy) {
    this.#policy = policy;
  }

  add(event: TranscriptEvent): void {
    switch (event.type) {
      case 'call':
        return this.#addCall(event);
      case 'result':
        return this.#addResult(event);
      case 'user':
        this.#afterUser = true;
        return;
      case 'tokens':
        return this.#addTokens(event);
    }
  }

  /** Judges the calls that were never answered. */
  end(): void {
    for (const call of this.#open) this.#judge(call, undefined, undefined);
    this.unanswered += this.#open.length;
    this.#open = [];
  }

  #addCall({ id, tool, input }: TranscriptEvent & { type: 'call' }): void {
    // A session that was continued contains its earlier calls again. Without ids every call counts.
    const isOrder = id?.startsWith('to ') === true;
    if (id !== null && !isOrder) {
      if (this.#seenCalls.has(id)) return;
      this.#seenCalls.add(id);
    }
    // A newer order to the same agent replaces one that was not answered.
    const waiting = isOrder ? this.#open.findIndex((one) => one.id === id) : -1;
    if (waiting >= 0) {
      const [before] = this.#open.splice(waiting, 1);
      if (before !== undefined) this.#open.push({ ...before, input });
      return;
    }
    if (!isOrder) this.calls += 1;
    this.#open.push({ id, n: this.calls, tool, input, afterUser: this.#afterUser });
    this.#afterUser = false;
    // Calls without a result are rare. The oldest are judged as unanswered, so that the list stays short.
    const oldest = this.#open.length > 200 ? this.#open.shift() : undefined;
    if (oldest !== undefined) this.#judge(oldest, undefined, undefined);
  }

  #addResult({ id, output, error }: TranscriptEvent & { type: 'result' }): void {
    const at = id === null ? this.#open.length - 1 : this.#open.findIndex((call) => call.id === id);
    const [call] = at < 0 ? [] : this.#open.splice(at, 1);
    if (call === undefined) return;
    // An order counts when it is answered, because the orchestrator may repeat it before.
    if (id?.startsWith('to ') === true) {
      this.calls += 1;
      call.n = this.calls;
    }
    this.#judge(call, output, error);
  }

  #addTokens({ message_id, output }: TranscriptEvent & { type: 'tokens' }): void {
    this.hasTokens = true;
    const known = message_id === null ? 0 : (this.#seenMessages.get(message_id) ?? 0);
    // Records of one message repeat its usage, and the last one has the whole count.
    const added = Math.max(0, output - known);
    if (message_id !== null) this.#seenMessages.set(message_id, Math.max(known, output));
    this.tokens[this.calls] = (this.tokens[this.calls] ?? 0) + added;
  }

  #judge({ n, tool, input, afterUser }: OpenCall, output: unknown, error: boolean | undefined): void {
    this.#numbers.push(n);
    const text = output === undefined ? '' : plainText(output);
    const call = { tool, input, output: output === undefined ? undefined : text, error, after_user: afterUser };
    const observed = observe(this.#state, call, this.#policy);
    this.#state = observed.state;
    this.#countTool(tool, input, text);
    const end = output === undefined ? undefined : this.#countFailure(tool, text, error);
    this.trail.add(n, tool, input, text, end);
    if (observed.verdict !== null) this.#addLoop(observed.verdict);
  }

  #addLoop(verdict: Verdict): void {
    const numberOf = (index: number): number => this.#numbers[index - 1] ?? index;
    const before = this.loops.at(-1);
    this.loops = addVerdict(this.loops, verdict, numberOf);
    const loop = this.loops.at(-1);
    // The verdict that names the loop has the calls that show it.
    if (
      loop === undefined ||
      (loop.rule === before?.rule && loop.level === before.level && loop.start === before.start)
    )
      return;
    const isOfEqualCalls = verdict.calls.length < verdict.repeats;
    const range = Array.from({ length: verdict.end - verdict.start + 1 }, (_, at) => verdict.start + at);
    this.examples.set(loop.start, this.trail.examples((isOfEqualCalls ? range : verdict.calls).map(numberOf)));
  }

  #countTool(tool: string, input: unknown, text: string): void {
    const use = this.tools.get(tool) ?? { count: 0, inputs: new Set(), outcomes: new Set() };
    use.count += 1;
    if (use.inputs.size < DISTINCT) use.inputs.add(shortHash(plainText(input).slice(0, 2000)));
    if (use.outcomes.size < DISTINCT) use.outcomes.add(shortHash(text.slice(0, 2000)));
    this.tools.set(tool, use);
  }

  #countFailure(tool: string, text: string, error: boolean | undefined): string | null {
    const answer = { tool, text, error };
    const fingerprint = fingerprintAnswer(answer);
    if (fingerprint === null) return null;
    const known = this.failures.get(fingerprint);
    if (known !== undefined) known.count += 1;
    else if (this.failures.size < FINGERPRINTS) this.failures.set(fingerprint, describeFailure(fingerprint, answer));
    return fingerprint;
  }
}
