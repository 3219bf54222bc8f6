/**
 * The table of secret formats: every rule has an example, every example is taken out whatever stands around it, and
 * docs/redaction.md lists the table. Needs nothing. Does not prove that every secret of every vendor is known.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMask, createRedactor, redactJson, secretsOf } from '../../../../src/core/redaction/redact.ts';
import { ALL_RULES } from '../../../../scripts/redaction-rules.ts';
import { secretFormats, spellings } from '../../../support/secret-formats.ts';

const redact = createRedactor();
const formats = secretFormats();

describe('the table of rules', () => {
  it('knows at least 77 formats, and has an example of each', () => {
    const names = new Set(ALL_RULES.map(({ name }) => name));
    expect(names.size).toBeGreaterThanOrEqual(77);
    expect(formats.length).toBeGreaterThanOrEqual(77);
    expect(new Set(formats.map(({ rule }) => rule))).toEqual(names);
  });

  it('is listed in the documentation', () => {
    const page = readFileSync('docs/redaction.md', 'utf8');
    const missing = ALL_RULES.filter(({ name, about }) => !page.includes(`\`${name}\``) || !page.includes(about));
    expect(missing).toEqual([]);
  });
});

describe('an example of each format is taken out', () => {
  it.each(formats.map((format, index) => [`${index} ${format.rule}`, format] as const))('%s', (_name, format) => {
    const { rule, text, secret } = format;
    expect(redact(text)).toContain(`[redacted:${rule}]`);
    for (const seen of [text, `before\n${text}\nafter`]) {
      expect(redact(seen)).not.toContain(secret);
      expect(redact(redact(seen))).toBe(redact(seen));
    }
    // As a value in JSON, as a key, and in JSON that is itself a text.
    const json = JSON.stringify(redactJson({ value: text, [text]: 1, inner: JSON.stringify({ text }) }, redact));
    expect(json).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  it('with other random characters too', () => {
    const shown = [2, 3, 4, 5, 6, 7, 8].flatMap((seed) =>
      secretFormats(seed).filter(({ text, secret }) => redact(text).includes(secret)),
    );
    expect(shown).toEqual([]);
  });
});

describe('a value that this process holds as a secret', () => {
  const value = 'c0rrect "horse"/+battery?ü';

  it.each(Object.entries(spellings(value)))('is taken out as %s', (_spelling, text) => {
    for (const hide of [createRedactor([value]), createMask([value])]) {
      expect(hide(`x ${text} y`)).not.toContain(text);
      expect(hide(`x ${text} y`)).toContain('[redacted:known]');
    }
  });

  it.each([0, 1, 2, 3])('is taken out of the base64 of a longer text (%s characters before it)', (before) => {
    const longer = Buffer.from(`${'u'.repeat(before)}${value}:more`).toString('base64');
    const clean = createMask([value])(longer);
    expect(Buffer.from(clean.replaceAll('[redacted:known]', ''), 'base64').toString()).not.toContain('battery');
    expect(clean).toContain('[redacted:known]');
  });

  it('is left alone where it is an ordinary word or its own variable’s name', () => {
    const known = secretsOf({ POSTGRES_PASSWORD: 'postgres', WAREHOUSE_KEY: 'warehouse', API_TOKEN: 'changeme' });
    expect(createRedactor(known)('postgres.query in the warehouse, changeme')).toBe(
      'postgres.query in the warehouse, changeme',
    );
  });

  it('is all that a mask knows', () => {
    const texts = formats.map(({ text }) => text);
    expect(texts.map(createMask(['some-known-value']))).toEqual(texts);
  });
});

describe('two keys that would become one', () => {
  it('stay two', () => {
    const [one, other] = [secretFormats(1), secretFormats(2)].map((made) => made[0]?.secret ?? '');
    const clean = redactJson({ [one ?? '']: 1, [other ?? '']: 2 }, redact) as object;
    expect(Object.values(clean)).toEqual([1, 2]);
  });
});
