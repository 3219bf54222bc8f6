/** docs/client.md against the client itself. Its snippets are compiled with all others. */
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { bare, section, tableRows } from './markdown.ts';

const client = createClient({ url: 'http://127.0.0.1:1', token: 'x' });

describe('docs/client.md', () => {
  it.each([
    ['Runs', client.runs],
    ['Guards', client.guards],
  ])('lists every call of %s, and no other', (heading, calls) => {
    const listed = tableRows(section('docs/client.md', heading)).map(([call]) => bare(call));
    expect(listed).toEqual(Object.keys(calls));
  });
});
