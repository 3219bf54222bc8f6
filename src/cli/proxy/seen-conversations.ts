import type { GuardReport } from '../../core/guard/guard-state.ts';
import type { ModelApi } from '../../core/proxy/read-conversation.ts';

/** What the proxy knows about one conversation: counts and names of tools, and no text of it. */
export interface ConversationReport {
  conversation: string;
  api: ModelApi;
  model: string;
  requests: number;
  /** How many requests the proxy answered itself, and to how many it added guidance. */
  stopped: number;
  guided: number;
  calls: number;
  loops: GuardReport['loops'];
}

const KEPT = 200;

/** The conversations that were seen last. */
export class SeenConversations {
  readonly #kept = new Map<string, ConversationReport>();

  /** `start` is the hash of what does not change while a conversation goes on. */
  note(
    start: string,
    about: Pick<ConversationReport, 'api' | 'model'>,
    report: GuardReport,
    did: 'stopped' | 'guided' | null,
  ): ConversationReport {
    const conversation = start.slice(0, 12);
    const known = this.#kept.get(conversation);
    this.#kept.delete(conversation);
    const next = {
      conversation,
      ...about,
      requests: (known?.requests ?? 0) + 1,
      stopped: (known?.stopped ?? 0) + (did === 'stopped' ? 1 : 0),
      guided: (known?.guided ?? 0) + (did === 'guided' ? 1 : 0),
      calls: report.calls,
      loops: report.loops,
    };
    this.#kept.set(conversation, next);
    const oldest = this.#kept.size > KEPT ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
    return next;
  }

  /** The latest first. */
  report(): { conversations: ConversationReport[] } {
    return { conversations: [...this.#kept.values()].toReversed() };
  }
}
