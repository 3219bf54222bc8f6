import type { InspectedLoop } from '../inspect/inspected-loop.ts';
import type { HookAgent } from './agents.ts';
import type { HookEvent } from './hook-event.ts';

/** A decision of the guard. */
export interface HookVerdict {
  verdict: 'allow' | 'continue' | 'guide' | 'ask' | 'deny' | 'stop';
  text?: string;
  loop?: InspectedLoop;
}

type Answer = Record<string, unknown>;

/** Agents put longer texts into a file instead of showing them to the model. */
const TEXT_CHARS = 8000;

const context = (name: string, text: string): Answer => ({
  hookSpecificOutput: { hookEventName: name, additionalContext: text },
});

const permission = (name: string, decision: 'ask' | 'deny', text: string): Answer => ({
  hookSpecificOutput: { hookEventName: name, permissionDecision: decision, permissionDecisionReason: text },
});

const beforeCall = (agent: HookAgent, name: string, verdict: HookVerdict['verdict'], text: string): Answer | null => {
  switch (verdict) {
    case 'ask':
      // Only Claude Code can ask its user here. With the others the model is refused and tells its user why.
      if (agent === 'claude') return permission(name, 'ask', text);
      return agent === 'codex' ? permission(name, 'deny', text) : { decision: 'deny', reason: text };
    case 'deny':
    case 'stop':
      return agent === 'gemini' ? { decision: 'deny', reason: text } : permission(name, 'deny', text);
    case 'guide':
      // The model gets the hint with the result of the call, and one is enough.
      return null;
    case 'allow':
    case 'continue':
      // No permission is granted either: that would skip the question that the agent asks its user.
      return null;
  }
};

/** What the user of an agent reads when it was stopped. The model does not see it. */
const stopReason = (text: string, loop: InspectedLoop | undefined): string =>
  loop === undefined
    ? text
    : `Secondwind stopped the agent: it is stuck (calls ${loop.start} to ${loop.end}). ${loop.signal} Tell it what to do instead, and it goes on.`;

const afterCall = (name: string, { verdict, loop }: HookVerdict, text: string): Answer | null => {
  switch (verdict) {
    case 'guide':
      return context(name, text);
    case 'ask':
    case 'deny':
    case 'stop':
      // The user is the person to ask, and has the word as soon as the agent stops.
      return { continue: false, stopReason: stopReason(text, loop) };
    case 'allow':
    case 'continue':
      return null;
  }
};

/** Says a verdict in the words of the agent. Null means that the hook prints nothing, and the agent goes on as usual. */
export const answerHook = (agent: HookAgent, event: HookEvent, decision: HookVerdict): Answer | null => {
  const text = (decision.text ?? '').slice(0, TEXT_CHARS);
  if (event.moment === 'before') return beforeCall(agent, event.name, decision.verdict, text);
  return event.moment === 'after' ? afterCall(event.name, decision, text) : null;
};

/** Tells the user of the agent something at the end of a turn. The model does not see it. */
export const tellUser = (text: string): Answer => ({ systemMessage: text.slice(0, TEXT_CHARS) });
