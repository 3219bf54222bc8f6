import { createHash } from 'node:crypto';
import type { GuardSettings } from '../../core/guard/guard-state.ts';
import { judgeConversation, type Judged, type Judgement } from '../../core/proxy/judge-conversation.ts';
import type { Conversation } from '../../core/proxy/read-conversation.ts';

/** The state of a guard is at most about 100 KB. */
const KEPT = 100;

/** One hash per call, of this call and all before it. Equal hashes mean that everything so far is equal. */
const chainOf = ({ calls }: Conversation): string[] => {
  let before = '';
  return calls.map((call) => {
    before = createHash('sha256').update(before).update(JSON.stringify(call)).digest('base64');
    return before;
  });
};

/**
 * Judges conversations, and keeps the state of the latest ones, because each request repeats the calls of the one
 * before. A conversation that was changed or shortened is judged from its first call on.
 */
export class JudgedConversations {
  readonly #kept = new Map<string, { hash: string; judged: Judged }>();
  readonly #settings: GuardSettings;

  constructor(settings: GuardSettings) {
    this.#settings = settings;
  }

  judge(start: string, conversation: Conversation): Judgement {
    const chain = chainOf(conversation);
    const known = this.#kept.get(start);
    const isContinued = known !== undefined && chain[known.judged.calls - 1] === known.hash;
    const judgement = judgeConversation(conversation, this.#settings, isContinued ? known.judged : undefined);
    this.#kept.delete(start);
    this.#kept.set(start, { hash: chain.at(-1) ?? '', judged: judgement.judged });
    const oldest = this.#kept.size > KEPT ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
    return judgement;
  }
}
