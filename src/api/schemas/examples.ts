import type { Json } from '../../protocol/json.ts';
import type { SchemaName } from './all-schemas.ts';

/** An example body of each request, for the description. A test checks them against their schemas. */
export const EXAMPLES: Partial<Record<SchemaName, Json>> = {
  // "hello" as JSON.
  Payloads: { payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'ImhlbGxvIg==' }] },
  RunRequest: { agent: 'demo', goal: 'try it', labels: ['first'] },
  AnswerRequest: { question_id: 'run-1:q1', decision: 'retry', by: 'ann' },
  FeedbackRequest: { text: 'Almost right, but use the other table.', by: 'ann' },
  PersonRequest: { by: 'ann', reason: 'no longer needed' },
  OverrideRequest: { override_max_reruns: true, override_by: 'ann', override_reason: 'one more pass' },
  LoopReport: {
    loop_id: 'loop_001',
    reflection_status: 'done',
    orchestrator_persona: 'SAGE',
    override_fatigue: false,
    override_max_reruns: false,
    override_by: null,
    reflection_result: { alignment_score: 0.72, drift_score: 0.28, summary_valid: true, reflection_persona: 'SAGE' },
  },
  GuardBefore: { agent: 'coder', session: 'chat-7', tool: 'read_file', input: { path: 'a.txt' }, effect: 'read' },
  GuardAfter: {
    agent: 'coder',
    session: 'chat-7',
    tool: 'read_file',
    input: { path: 'a.txt' },
    error: 'a.txt: permission denied',
  },
  FailureReport: {
    run_id: 'elsewhere-1',
    step_id: 3,
    signal_type: 'tool_error',
    tool_name: 'search',
    error_code: 'HTTP_503',
    message: 'upstream connect error',
  },
  FailureRevisionRequest: { status: 'superseded', by: 'ann', reason: 'the tool has moved' },
  ReflectionRequest: {
    error_type: 'conflict',
    content: 'Two sources disagreed; the newer one was right.',
    context: 'dates of a bridge',
    query: 'when was it built',
    iteration: 2,
    quality_delta: 0.25,
    changed_behavior: true,
    agent: 'demo',
  },
  ReflectionPreviewRequest: { agent: 'demo', run_id: 'run-1' },
  ReflectionRevisionRequest: { action: 'pin', by: 'ann' },
  DetectRequest: { text: 'FAIL a.test.ts > adds\nAssertionError: expected 3 to equal 4' },
  RefineRequest: { prompt: 'Write the parser', feedback: 'TypeError: x is not a function' },
  GuardPolicyRequest: { policy: { reruns: { max_reruns: 1 } }, by: 'ann' },
  VerdictRequest: { wrong: true, by: 'ann', reason: 'it polled a queue' },
  SwitchRequest: { agent: 'demo', enhancement: 'on', by: 'ann', reason: 'another model since today' },
  BoundRequest: { agent: 'demo', policy: { reruns: { max_reruns: 0 } } },
};
