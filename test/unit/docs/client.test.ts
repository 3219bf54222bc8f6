/** docs/client.md against the client itself. Its snippets are compiled with all others. */
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { bare, pageText, tableRows } from './markdown.ts';

describe('docs/client.md', () => {
  it('has every call, and no other', () => {
    const { runs } = createClient({ url: 'http://127.0.0.1:1', token: 'x' });
    expect(tableRows(pageText('docs/client.md')).map(([call]) => bare(call))).toEqual(Object.keys(runs));
  });
});
