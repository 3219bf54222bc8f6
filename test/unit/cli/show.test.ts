/** How answers look: within a terminal's width, and harmless to it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { narrate } from '../../../src/cli/follow/narrate.ts';
import { wantsColours } from '../../../src/cli/show/colours.ts';
import { LiveLine } from '../../../src/cli/show/live-line.ts';
import { questionBlock } from '../../../src/cli/show/question-lines.ts';
import { resultLines } from '../../../src/cli/show/result-lines.ts';
import { statusLines } from '../../../src/cli/show/run-lines.ts';
import { stepLines } from '../../../src/cli/show/step-lines.ts';
import { type Column, table } from '../../../src/cli/show/table.ts';
import { cut, duration, oneLine, displayWidth, wrap } from '../../../src/cli/show/terminal-text.ts';
import { transcriptLines } from '../../../src/cli/show/transcript-lines.ts';
import { openRun } from '../../../src/core/run/state.ts';
import { statusOf } from '../../../src/core/run/status.ts';
import { plainRegistry, prepared } from '../../support/fixtures.ts';
import { aQuestion } from '../../support/questions.ts';

interface Row {
  id: string;
  count: number;
  text: string;
}
const columns: Column<Row>[] = [
  { head: 'ID', cell: (row) => row.id },
  { head: 'COUNT', cell: (row) => String(row.count), right: true },
  { head: 'TEXT', cell: (row) => row.text, flexible: true },
];
const row = fc.record({ id: fc.string({ maxLength: 30 }), count: fc.nat(), text: fc.string({ unit: 'grapheme' }) });
// oxlint-disable-next-line no-control-regex -- these are what must not be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/;

describe('a table', () => {
  it('a table cuts texts at the width of the terminal, leaves out columns before it cuts an id, and cuts nothing without a terminal', () => {
    const rows = [{ id: 'run-1', count: 7, text: 'a goal that takes a while to tell' }];
    expect(table(columns, rows, 30)).toEqual(['ID     COUNT  TEXT', 'run-1      7  a goal that tak…']);
    expect(table(columns, rows, 14)).toEqual(['ID', 'run-1']);
    expect(table(columns, rows, null)[1]).toBe('run-1      7  a goal that takes a while to tell');
  });

  it('a table is never wider than the terminal or its ids, and never moves the cursor, whatever its rows contain', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 20, max: 120 }), (rows, width) => {
        for (const line of table(columns, rows, width)) {
          const longest = Math.max(2, ...rows.map(({ id }) => displayWidth(oneLine(id))));
          expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(width, longest));
          expect(line).not.toMatch(CONTROL);
        }
      }),
    );
  });
});

describe('text', () => {
  it('printed text is one line without control characters', () => {
    expect(oneLine('a\u001b[31mred\u001b]0;title\u0007\r\nb\u202e')).toBe('a [31mred ]0;title b');
  });

  it('printed text is cut by columns, of which some characters take two', () => {
    expect(cut('雨雨雨', 5)).toBe('雨雨…');
    expect(cut('雨雨雨', 6)).toBe('雨雨雨');
    expect(['0 s', '59 s', '2 min 5 s', '1 h 1 min']).toEqual([0, 59, 125, 3_700].map(duration));
  });

  it('printed events and statuses contain no control characters either', () => {
    const evil = 'x\u001b[2Jy';
    const told = narrate({ ...aQuestion({ text: evil }), id: '1', at: '', event: 'question_asked', escalation: 0 });
    expect(told).toContain('x [2Jy');
    const plan = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
    const status = statusOf(openRun(prepared({ agent: 'plain', goal: evil, plan }, plainRegistry), 0));
    expect(statusLines(status)).toContainEqual(expect.stringMatching(/^goal {6}x \[2Jy$/));
  });

  it('a status names side effects of unknown outcome, and tells a lost output from one that is written later', () => {
    const plan = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
    const status = statusOf(openRun(prepared({ agent: 'plain', goal: 'g', plan }, plainRegistry), 0));
    const unknown = [{ call: 'c', key: 'k', told: 'pay {"euros":5}', known: 'It is unknown whether it took effect.' }];
    const effects = { done: {}, unknown, settled: [], fence: 1 };
    const lines = statusLines({ ...status, effects, unsaved: { records: 0, outputs: 1, archive: false, lost: 2 } });
    expect(lines).toContainEqual(expect.stringMatching(/^unknown +pay \{"euros":5\}: It is unknown whether/));
    expect(lines).toContainEqual(expect.stringMatching(/^unsaved +1 output: written when Postgres answers$/));
    expect(lines).toContainEqual(expect.stringMatching(/^lost +2 outputs: too large/));
    expect(statusLines(status).join()).not.toMatch(/unknown|unsaved|lost/);
  });
});

describe('what people read of a run', () => {
  const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 40 }).map((all) => all.join(' '));
  const attempt = { attempt: 1, started_at: '', ended_at: '', outcome: 'ok', wait_ms: 0 } as const;

  it('fits 80 columns and cannot harm a terminal: steps, transcript, result and question', () => {
    fc.assert(
      fc.property(words, (text) => {
        const step = { loop_id: 'l', step_id: 1, phase: 'p', tool: text, input: { text } };
        const call = { id: 'c', tool: 'read_page', input: { text } };
        const lines = [
          ...stepLines('run-1', [{ ...step, attempts: [{ ...attempt, output: text }] }], 80),
          ...transcriptLines('run-1', [{ turn: 1, role: 'assistant', content: text, tool_calls: [call] }], 80),
          ...resultLines('run-1', { text }, 80),
          ...questionBlock(
            'run-1',
            aQuestion({ text, tool: 'read_page', input: { text }, reason: text, tried: [text] }),
            80,
          ),
        ];
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(80);
          expect(line).not.toMatch(CONTROL);
        }
      }),
    );
  });

  it('is whole where there is no terminal, and cut with a hint where there is one', () => {
    const long = Array.from({ length: 200 }, (_, n) => `line ${n}`).join('\n');
    const message = { turn: 2, role: 'tool', content: long, tool_call_id: 'c' } as const;
    expect(transcriptLines('run-1', [message], null)).toHaveLength(201);
    const shown = transcriptLines('run-1', [message], 80);
    expect(shown).toHaveLength(32);
    expect(shown.at(-1)).toContain('170 more lines: secondwind transcript run-1');
    const result = Array.from({ length: 100 }, (_, n) => n);
    expect(JSON.parse(resultLines('run-1', result, null).join('\n'))).toEqual(result);
    expect(resultLines('run-1', result, 80).at(-1)).toMatch(
      /^… 62 more lines\. The whole result: secondwind status run-1/,
    );
  });

  it('shows everything that a person needs to answer a question', () => {
    const asked = aQuestion({
      kind: 'approval',
      step_id: 3,
      tool: 'bank.transfer',
      input: { to: 'DE12', amount: 500 },
      input_artifact_id: 'ab12',
      reason: 'The invoice is due today.',
    });
    expect(questionBlock('run-7', asked, 80)).toEqual([
      'Step 1 (work, pay) failed. What should happen?',
      '',
      '  question  run-7:q1 (approval)',
      '  tool      bank.transfer, step 3',
      '  input     {',
      '              "to": "DE12",',
      '              "amount": 500',
      '            }',
      '  reason    The invoice is due today.',
      '  tried     Attempt 1 failed (HTTP_503: upstream is away).',
      '  used      $0.0120, 340 of 340 tokens, 2 of 2 attempts, 34 s of 34 s',
      '  until     2026-03-02 09:00 UTC',
      '  or else   The policy decides stop: the run ends with its results so far.',
      '',
      '  retry     The call runs once more with the same input.',
      '  stop      The run ends with its results so far.',
      '',
      'Answer: secondwind answer run-7 <retry|stop>',
    ]);
  });

  it('names the artifact of an input that it does not show whole, and says when a cost is not known', () => {
    const { budget } = aQuestion();
    const cut = { input: '{"rows":[1… (9000 characters in all)', input_chars: 9_000, input_artifact_id: 'ab12' };
    const lines = questionBlock('run-7', aQuestion({ ...cut, budget: { ...budget, cost_known: false } }), 80);
    expect(lines).toContain('            whole: GET /v1/artifacts/ab12');
    expect(lines.join(' ')).toContain('unknown cost (the model has no price)');
    const many = questionBlock('run-7', aQuestion({ input: Array.from({ length: 100 }, (_, n) => n) }), 80);
    expect(many.join(' ')).toContain('… 78 more lines');
  });

  it('is wrapped at spaces, and inside of words that are too long', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrap('', 4)).toEqual(['']);
  });

  it('lists the steps of each pass under its name', () => {
    const step = { phase: 'p', tool: 'look', input: {}, attempts: [attempt] };
    const lines = stepLines(
      'r',
      [
        { ...step, loop_id: 'l', step_id: 1 },
        { ...step, loop_id: 'l_r1', step_id: 2 },
      ],
      null,
    );
    expect(lines.filter((line) => line.startsWith('pass '))).toEqual(['pass l', 'pass l_r1']);
  });

  it('shows what a run cost, and says so if nobody knows', () => {
    const plan = { steps: [{ phase: 'work', tool: 'look', input: {} }] };
    const status = statusOf(openRun(prepared({ agent: 'plain', goal: 'g', plan }, plainRegistry), 0));
    const costLine = (used: number, most: number | null, calls: number) => {
      const { budget, bound } = status;
      const told = statusLines({
        ...status,
        bound: bound && { ...bound, cost_micro_usd: most },
        budget: {
          ...budget,
          used: { ...budget.used, cost_micro_usd: used, model_calls: calls },
          limit: { ...budget.limit, cost_micro_usd: most },
        },
      });
      return told.find((line) => line.startsWith('cost'))?.replace(/^cost +/, '');
    };
    expect(costLine(12_300, 1_000_000, 2)).toBe('$0.0123 of $1.0000');
    expect(costLine(12_300, null, 2)).toBe('$0.0123');
    expect(costLine(0, null, 2)).toBe('not known, because the model has no price');
    expect(costLine(0, null, 0)).toBeUndefined();
  });
});

describe('the line that changes', () => {
  const terminal = (isTTY: boolean) => {
    const written: string[] = [];
    return { isTTY, columns: 20, write: (text: string) => written.push(text), written };
  };

  it('the live line is below the permanent lines, within the width, and is removed at the end', () => {
    const to = terminal(true);
    const live = new LiveLine(to);
    live.show('step 1: a tool with a long name');
    live.above(() => to.write('kept\n'));
    live.end();
    const [first = '', clear, kept, again = '', last] = to.written;
    for (const drawn of [first, again]) expect(displayWidth(drawn.replace('\r\u001b[2K', ''))).toBeLessThan(20);
    expect([clear, kept, last]).toEqual(['\r\u001b[2K', 'kept\n', '\r\u001b[2K']);
  });

  it('the live line prints nothing without a terminal', () => {
    const to = terminal(false);
    const live = new LiveLine(to);
    live.show('step 1');
    live.above(() => {});
    live.end();
    expect(to.written).toEqual([]);
  });
});

describe('colours', () => {
  it('colours are only for terminals; a pipe is plain on CI servers too', () => {
    expect(wantsColours({}, { isTTY: true })).toBe(true);
    expect(wantsColours({ TERM: 'dumb' }, { isTTY: true })).toBe(false);
    expect(wantsColours({}, {})).toBe(false);
    expect(wantsColours({ CI: 'true' }, {})).toBe(false);
  });

  it('colours follow the environment if it sets them', () => {
    expect(wantsColours({ NO_COLOR: '1' }, { isTTY: true })).toBe(false);
    expect(wantsColours({ NO_COLOR: '1', FORCE_COLOR: '1' }, { isTTY: true })).toBe(false);
    expect(wantsColours({ FORCE_COLOR: '1' }, {})).toBe(true);
    expect(wantsColours({ FORCE_COLOR: '0' }, { isTTY: true })).toBe(false);
  });
});
