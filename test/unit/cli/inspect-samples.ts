/** One transcript in every format: a listing that works, then five equal calls that fail in the same way. */
interface SampleCall {
  id: string;
  tool: string;
  input: Record<string, string>;
  output: string;
  failed: boolean;
}

export const CALLS: SampleCall[] = [
  { id: 'c0', tool: 'ls', input: { command: 'ls' }, output: 'letters\nparcels', failed: false },
  ...Array.from({ length: 5 }, (_, n) => ({
    id: `c${n + 1}`,
    tool: 'weigh',
    input: { command: 'weigh parcels' },
    output: `sh: line ${40 + n}: weigh: command not found`,
    failed: true,
  })),
];
const GOAL = 'Weigh the parcels.';
const lines = (records: readonly unknown[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const each = <T>(make: (call: SampleCall, index: number) => T[]): T[] => CALLS.flatMap(make);

const span = (call: SampleCall, index: number) => ({
  span_id: `s${index}`,
  name: `execute_tool ${call.tool}`,
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.tool,
    'gen_ai.tool.call.arguments': JSON.stringify(call.input),
    'gen_ai.tool.call.result': call.output,
  },
  status: { code: call.failed ? 2 : 1 },
});

export const SAMPLES: Record<string, string> = {
  'claude-code': lines([
    { type: 'user', uuid: 'u', sessionId: 's', message: { role: 'user', content: GOAL } },
    ...each(({ id, tool, input, output, failed }) => {
      const message = { id: `m-${id}`, role: 'assistant', usage: { output_tokens: 10 } };
      return [
        { type: 'assistant', uuid: `t${id}`, message: { ...message, content: [{ type: 'text', text: 'Now.' }] } },
        {
          type: 'assistant',
          uuid: `a${id}`,
          message: { ...message, content: [{ type: 'tool_use', id, name: tool, input }] },
        },
        {
          type: 'user',
          uuid: `r${id}`,
          message: { content: [{ type: 'tool_result', tool_use_id: id, content: output, is_error: failed }] },
        },
      ];
    }),
  ]),
  codex: lines([
    { timestamp: '1', type: 'session_meta', payload: { id: 's' } },
    ...each(({ id, tool, input, output, failed }) => [
      {
        timestamp: id,
        type: 'response_item',
        payload: { type: 'function_call', name: tool, arguments: JSON.stringify(input), call_id: id },
      },
      {
        timestamp: id,
        type: 'response_item',
        payload: {
          type: 'function_call_output',
          call_id: id,
          output: JSON.stringify({ output, metadata: { exit_code: failed ? 127 : 0 } }),
        },
      },
    ]),
  ]),
  openhands: JSON.stringify([
    { id: 100, source: 'user', action: 'message', args: { content: GOAL } },
    ...each(({ tool, input, output, failed }, index) => [
      { id: index, source: 'agent', action: tool, args: { ...input, thought: 'Now.' } },
      {
        id: 50 + index,
        source: 'agent',
        cause: index,
        observation: tool,
        content: output,
        extras: { exit_code: failed ? 127 : 0 },
      },
    ]),
  ]),
  'swe-agent': JSON.stringify({
    environment: 'post',
    trajectory: CALLS.map(({ input, output }) => ({
      action: `${input['command'] ?? ''}\n`,
      observation: output,
      thought: 'Now.',
    })),
    history: CALLS.map(({ output }) => ({ role: 'user', content: output })),
  }),
  'mini-swe-agent': JSON.stringify([
    { role: 'system', content: 'One command each.' },
    { role: 'user', content: GOAL },
    ...each(({ input, output, failed }) => [
      { role: 'assistant', content: `Now.\n\n\`\`\`mswea_bash_command\n${input['command'] ?? ''}\n\`\`\`` },
      { role: 'user', content: `<returncode>${failed ? 127 : 0}</returncode>\n<output>\n${output}\n</output>` },
    ]),
  ]),
  'openai-chat': JSON.stringify([
    { role: 'user', content: GOAL },
    ...each(({ id, tool, input, output }) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }],
      },
      { role: 'tool', tool_call_id: id, content: output },
    ]),
  ]),
  'openai-responses': JSON.stringify({
    id: 'resp_1',
    output: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: GOAL }] },
      ...each(({ id, tool, input, output }) => [
        { type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(input) },
        { type: 'function_call_output', call_id: id, output },
      ]),
    ],
  }),
  'ai-sdk': JSON.stringify({
    steps: CALLS.map(({ id, tool, input, output }) => ({
      text: '',
      toolCalls: [{ type: 'tool-call', toolCallId: id, toolName: tool, input }],
      toolResults: [{ type: 'tool-result', toolCallId: id, toolName: tool, output }],
    })),
  }),
  langchain: JSON.stringify({
    messages: [
      { type: 'human', content: GOAL },
      ...each(({ id, tool, input, output, failed }) => [
        {
          lc: 1,
          type: 'constructor',
          id: ['langchain_core', 'messages', 'AIMessage'],
          kwargs: { content: '', tool_calls: [{ id, name: tool, args: input }] },
        },
        { type: 'tool', tool_call_id: id, content: output, status: failed ? 'error' : 'success' },
      ]),
    ],
  }),
  opentelemetry: JSON.stringify({ spans: CALLS.map(span) }),
  'magentic-one': JSON.stringify({
    history: [
      { role: 'human', content: GOAL },
      ...each(({ tool, input, output }) => [
        { role: `Orchestrator (-> ${tool})`, content: input['command'] },
        { role: 'Orchestrator (thought)', content: 'Next.' },
        { role: tool, content: output },
      ]),
    ],
  }),
  pi: lines([
    { type: 'session', id: 's', cwd: '/post' },
    { type: 'message', id: '1', message: { role: 'user', content: GOAL } },
    ...each(({ id, tool, input, output, failed }) => [
      {
        type: 'message',
        id: `a${id}`,
        message: { role: 'assistant', content: [{ type: 'toolCall', id, name: tool, arguments: input }] },
      },
      {
        type: 'message',
        id: `r${id}`,
        message: {
          role: 'toolResult',
          toolCallId: id,
          toolName: tool,
          content: [{ type: 'text', text: output }],
          isError: failed,
        },
      },
    ]),
  ]),
  secondwind: JSON.stringify({
    format: 'secondwind.run',
    version: 1,
    steps: CALLS.map(({ tool, input, output, failed }, index) => ({
      loop_id: 'l',
      step_id: index + 1,
      tool,
      input,
      attempts: [{ attempt: 1, outcome: failed ? 'failed' : 'ok', output }],
    })),
  }),
};
