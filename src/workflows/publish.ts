import { defined } from '../protocol/json.ts';
import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { PublishedState } from '../core/run/ports.ts';
import { MEMO, SEARCH_ATTRIBUTE } from '../protocol/names.ts';
import type { PreparedRun } from '../protocol/run.ts';

const key = {
  agent: defineSearchAttributeKey(SEARCH_ATTRIBUTE.agent, 'KEYWORD'),
  state: defineSearchAttributeKey(SEARCH_ATTRIBUTE.state, 'KEYWORD'),
  outcome: defineSearchAttributeKey(SEARCH_ATTRIBUTE.outcome, 'KEYWORD'),
  label: defineSearchAttributeKey(SEARCH_ATTRIBUTE.label, 'KEYWORD_LIST'),
  attempts: defineSearchAttributeKey(SEARCH_ATTRIBUTE.attempts, 'INT'),
};

/**
 * Publishes changes of a run: search attributes for lists, and the memo for an open question and the ending. Both are
 * sent with the current workflow task, so they cause no task of their own.
 */
export function createPublisher(run: PreparedRun, searchable: boolean): (shown: PublishedState) => void {
  // Our client sets the attributes when it starts a run; a bare start has none yet.
  const known = workflowInfo().typedSearchAttributes.get(key.state);
  let state: string | null = known ?? null;
  let question: string | null = null;
  return (shown) => {
    if (searchable && shown.state !== state) upsertSearchAttributes(attributesOf(run, shown));
    state = shown.state;
    const asked = shown.question === null ? null : `${shown.question.question_id} ${shown.question.deadline}`;
    const memo: Record<string, unknown> = {
      ...(asked === question ? {} : { [MEMO.pendingQuestion]: shown.question }),
      ...defined({ [MEMO.decided]: shown.decided }),
      ...(shown.state === 'ended' ? { [MEMO.outcome]: shown.outcome } : {}),
    };
    question = asked;
    if (Object.keys(memo).length > 0) upsertMemo(memo);
  };
}

function attributesOf(run: PreparedRun, shown: PublishedState): SearchAttributeUpdatePair[] {
  return [
    { key: key.agent, value: run.agent },
    { key: key.state, value: shown.state },
    { key: key.attempts, value: shown.attempts },
    ...(shown.outcome === undefined ? [] : [{ key: key.outcome, value: shown.outcome }]),
    ...(run.labels.length === 0 ? [] : [{ key: key.label, value: run.labels }]),
  ];
}
