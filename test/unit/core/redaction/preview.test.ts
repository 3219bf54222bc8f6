/** What the list of steps shows of a value. Which secrets are found is the business of redact.test.ts. */
import { describe, expect, it } from 'vitest';
import { previewJson } from '../../../../src/core/redaction/preview.ts';
import { createRedactor } from '../../../../src/core/redaction/redact.ts';
import { CAP } from '../../../../src/protocol/caps.ts';

const redact = createRedactor(['a-known-secret-value']);

describe('a preview', () => {
  it('of a small value is the value itself, redacted', () => {
    expect(previewJson({ page: 1 }, redact)).toEqual({ page: 1 });
    expect(previewJson(null, redact)).toBeNull();
    expect(previewJson({ note: 'a-known-secret-value' }, redact)).toEqual({ note: '[redacted:known]' });
  });

  it('of a large value is a text with the beginning of its JSON, and says how long the whole is', () => {
    const shown = previewJson({ text: 'x'.repeat(5_000) }, redact);
    expect(shown).toMatch(/^\{"text":"x+… \(5011 characters in all\)$/);
    expect(JSON.stringify(shown).length).toBeLessThan(CAP.previewChars + 80);
  });

  it('never ends in the middle of a secret', () => {
    for (let chars = CAP.previewChars - 60; chars < CAP.previewChars + 20; chars += 1) {
      const shown = JSON.stringify(previewJson({ text: `${'x'.repeat(chars)} a-known-secret-value` }, redact));
      expect(shown).not.toContain('a-known');
    }
  });
});
