/** docs/exit-codes.md: its table against the code, and its three examples run as real commands. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { categoryOfProtocolExit, PROTOCOL_EXIT } from '../../../src/core/retry/exit-codes.ts';
import { readReport } from '../../../src/core/retry/failure-report.ts';
import type { CommandOutput } from '../../../src/define/command/command-output.ts';
import { commandTool } from '../../../src/define/command/command-tool.ts';
import { failed, request, succeeded } from '../../support/tool-environment.ts';
import { bare, blocks, pageText, section, tableRows } from './markdown.ts';

const page = 'docs/exit-codes.md';
const scratch = mkdtempSync(join(tmpdir(), 'secondwind-examples-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const example = (file: string, language: string, run: string[]) => {
  const path = join(scratch, file);
  writeFileSync(path, blocks(page, language)[0] ?? '');
  chmodSync(path, 0o755);
  return commandTool({
    name: 'tool',
    effect: 'read',
    protocol: true,
    input: z.unknown(),
    prompt: { text: () => 'Rate this essay.', file: true },
    argv: () => [...run, path],
  });
};

describe('the exit codes', () => {
  it('are those of the code, with their categories', () => {
    const rows = tableRows(pageText(page).split('## Failure reports')[0] ?? '');
    expect(rows.map(([code, name, category]) => [Number(code), name, bare(category) || null])).toEqual(
      Object.entries(PROTOCOL_EXIT).map(([name, code]) => [code, name, categoryOfProtocolExit(code)]),
    );
  });

  it('have a report that reads as the page says', () => {
    expect(readReport(blocks(page, 'json')[0] ?? '')).toMatchObject({ exit_code: 3, category: 'validation_both' });
  });
});

describe.each([
  ['sh', 'sh', 'essay.sh', [], { category: 'validation_grounding', missed: ['grounding: no search was made'] }],
  ['Node', 'js', 'essay.mjs', [process.execPath], { category: 'validation_reasoning', error_code: 'EXIT_2' }],
  ['Python', 'python', 'essay.py', ['python3'], { category: 'validation_both', missed: ['grounding', 'reasoning'] }],
] as const)('the example in %s', (name, language, file, run, failure) => {
  it('stands under its heading', () => {
    expect(section(page, `In ${name}`)).toContain(blocks(page, language)[0]);
  });

  it('fails its first attempt as it says, and succeeds when told what was missed', { timeout: 20_000 }, async () => {
    const tool = example(file, language, [...run]);
    const first = await failed(tool, request({}));
    expect(first).toMatchObject(failure);
    const retry_context = { category: first.category, retry: 1, missed: first.missed ?? [] };
    const second = await succeeded(tool, request({}, { attempt: 2, retry_context }));
    expect((second.output as CommandOutput).stdout).toMatch(/RETRY NOTE|because of \d{3,}/);
  });
});
