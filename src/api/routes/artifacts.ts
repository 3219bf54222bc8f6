import { z } from 'zod';
import { artifactIdSchema } from '../../protocol/schemas/failure-record.ts';
import type { ApiContext, ApiDeps } from '../api-context.ts';
import { Problem } from '../problem.ts';
import { readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';

const PREVIEW_CHARS = 16_000;
const PREVIEW_BYTES = 4 * PREVIEW_CHARS;

/** The media types that are sent as they are. Any other is sent as `application/octet-stream`. */
const PLAIN_TYPES = new Set(['application/json', 'text/plain', 'application/octet-stream']);

/** The output of a tool must not be displayed, run or framed by a browser. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

const artifactQuery = z.strictObject({ preview: z.enum(['0', '1']).optional() });

export const artifact: Route = {
  method: 'get',
  path: '/v1/artifacts/{id}',
  role: 'viewer',
  summary:
    'The exact bytes of an artifact, for an operator; for other roles, and with preview=1, the redacted start of it as text',
  params: { id: artifactIdSchema },
  query: artifactQuery,
  answer: { status: 200, description: 'The exact bytes, or redacted plain text', media: '*/*' },
  problems: ['artifact_not_found'],
  handle: async (c, deps) => {
    const { preview } = readQuery(c, artifactQuery);
    const { id, bytes, media_type } = await read(c, deps);
    // Artifacts are stored unchanged, so their bytes may contain secrets. Only an operator may read them.
    if (preview === '1' || c.get('grant').role !== 'operator') {
      const text = makePreview(bytes, c.get('redact'));
      return c.body(text, 200, { ...SAFE_HEADERS, 'content-type': 'text/plain; charset=utf-8' });
    }
    const [type = ''] = media_type.split(';');
    return c.body(new Uint8Array(bytes), 200, {
      ...SAFE_HEADERS,
      'content-type': PLAIN_TYPES.has(type.trim()) ? type.trim() : 'application/octet-stream',
      'content-disposition': `attachment; filename="${id}"`,
      'content-length': String(bytes.byteLength),
    });
  },
};

async function read(c: ApiContext, { store }: ApiDeps) {
  const id = c.req.param('id') ?? '';
  const found = artifactIdSchema.safeParse(id).success ? await store.artifacts.get(id) : null;
  if (found) return found;
  throw new Problem(
    'artifact_not_found',
    'The id of an artifact is the sha256 of its bytes, 64 hex digits. Check the id.',
  );
}

/* oxlint-disable no-control-regex -- control characters are what these patterns are about */
const TERMINAL_COMMANDS = /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,256}(?:\u0007|\u001b\\))/g;
/** Control characters except tab and line feed, and characters that change the direction of text. */
const UNSAFE_CHARS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/* oxlint-enable no-control-regex */

/** Removes everything that could control a terminal, and marks where the text was cut. */
function makePreview(bytes: Uint8Array, redact: (text: string) => string): string {
  const text = new TextDecoder().decode(bytes.subarray(0, PREVIEW_BYTES));
  const clean = redact(text.replace(TERMINAL_COMMANDS, '').replaceAll('\r\n', '\n').replace(UNSAFE_CHARS, ''));
  const isCut = bytes.byteLength > PREVIEW_BYTES || clean.length > PREVIEW_CHARS;
  return isCut ? `${clean.slice(0, PREVIEW_CHARS)}\n… ${bytes.byteLength} bytes in all` : clean;
}
