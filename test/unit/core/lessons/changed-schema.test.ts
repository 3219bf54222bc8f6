/** When a changed tool schema supersedes a lesson. */
import { describe, expect, it } from 'vitest';
import { findChangedTool } from '../../../../src/core/lessons/changed-schema.ts';

describe('a lesson', () => {
  it.each([
    ['holds if its tool has the same schema', [{ stock: 'a' }], { stock: 'a' }, null],
    ['is superseded if its tool has another schema', [{ stock: 'a' }], { stock: 'b' }, 'stock'],
    [
      'is superseded if one of its two tools has another schema',
      [{ stock: 'a', list: 'x' }],
      { stock: 'a', list: 'y' },
      'list',
    ],
    ['holds if it was also learnt under the present schema', [{ stock: 'a' }, { stock: 'b' }], { stock: 'b' }, null],
    ['holds if nobody knows its tool any more', [{ stock: 'a' }], { list: 'x' }, null],
    ['holds if it is not known under which schema it was learnt', [], { stock: 'a' }, null],
  ])('%s', (_what, learnt, now, changed) => {
    expect(findChangedTool(learnt as Record<string, string>[], now as Record<string, string>)).toBe(changed);
  });
});
