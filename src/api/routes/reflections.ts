import { z } from 'zod';
import { explainChangedTool, findChangedTool } from '../../core/lessons/changed-schema.ts';
import { errorSignature } from '../../core/lessons/signature.ts';
import { toStoredLesson } from '../../core/lessons/stored-lesson.ts';
import { salientLine } from '../../core/failures/salient-line.ts';
import { redactShown } from '../../core/redaction/shown.ts';
import { CAP } from '../../protocol/caps.ts';
import { defined } from '../../protocol/json.ts';
import { DEFAULT_POLICY } from '../../protocol/policy.ts';
import { searchWords } from '../../client/matches-search.ts';
import type { RecalledReflection } from '../../store/reflection-recall.ts';
import { tenantSchema } from '../../protocol/schemas/tenant.ts';
import { tenantFor } from '../access.ts';
import type { ApiDeps } from '../api-context.ts';
import { answerJson, page } from '../json-answer.ts';
import { Problem } from '../problem.ts';
import { readBody, readQuery } from '../read-request.ts';
import type { Route } from '../route.ts';
import { SCHEMAS } from '../schemas/all-schemas.ts';
import { cursor, limit, plainText } from '../schemas/shared-schemas.ts';

const { similarity_threshold } = DEFAULT_POLICY.memory;
/** A search finds the lessons of the named agent and those for all agents of the tenant, as the agent itself would. */
const searchScope = (agent: string | undefined, tenant: string | undefined) =>
  ({ scope: 'global', agent: agent ?? null, tenant: tenant ?? null }) as const;

export const postReflection: Route = {
  method: 'post',
  path: '/v1/reflections',
  role: 'reporter',
  summary: 'Store a lesson that changed behaviour. A known lesson counts as another occurrence',
  body: 'ReflectionRequest',
  answer: { status: 200, description: 'Whether it was stored, counted or left out', schema: 'ReflectionTaken' },
  handle: async (c, { store }) => {
    const body = await readBody(c, SCHEMAS.ReflectionRequest);
    const given = redactShown(body, c.get('redact'));
    const {
      agent,
      scope = agent === undefined ? 'global' : 'agent',
      changed_behavior,
      tenant,
      error_text,
      error_code,
      tool_name,
      ...lesson
    } = given;
    const { role } = c.get('grant');
    if (scope === 'global' && role !== 'operator') {
      const next = 'Name an agent and leave scope out, or use an operator token.';
      throw new Problem(
        'weaker_role',
        `A lesson for all agents needs the operator role; the token has the role ${role}. ${next}`,
      );
    }
    const error_signature = errorSignature(lesson.error_type, lesson.content);
    // A lesson without effect is worth nothing, and a lesson with the scope of one run ends with that run.
    if (!changed_behavior || scope === 'run') {
      const nothing = { id: null, stored: false, deduplicated: false, occurrence_count: 0 };
      return answerJson(c, { ...nothing, error_signature });
    }
    const { category: _always, ...kept } = toStoredLesson({ ...lesson, error_signature });
    const { id, stored, deduplicated, occurrence_count } = await store.reflections.persist({
      ...kept,
      scope,
      agent: agent ?? null,
      tenant: tenantFor(c.get('grant'), tenant) ?? null,
      error_type: lesson.error_type,
      error_signature,
      ...defined({ error_code, error_text: error_text === undefined ? undefined : salientLine(error_text) }),
      ...(tool_name !== undefined && { tools: [tool_name] }),
      similarity_threshold,
    });
    const duplicate = deduplicated ? { duplicate_of: id } : {};
    return answerJson(c, { id, stored, deduplicated, ...duplicate, occurrence_count, error_signature });
  },
};

const name = plainText(CAP.nameChars);
/** The longest text in a query, where one character may take twelve. */
const ADDRESS_CHARS = CAP.textChars;
const signature = z.string().regex(/^[0-9a-f]{16}$/);
const listQuery = z.strictObject({
  signature: signature.optional(),
  similar_to: z.string().min(1).max(ADDRESS_CHARS).optional(),
  q: z.string().min(1).max(ADDRESS_CHARS).optional(),
  tool: name.optional(),
  code: name.optional(),
  fingerprint: plainText(200).optional(),
  error_type: name.optional(),
  agent: name.optional(),
  tenant: tenantSchema.optional(),
  retired: z.enum(['true', 'false']).optional().describe('true lists the lessons that no run sees any more'),
  cursor: cursor.optional(),
  limit: limit.optional(),
});

export const reflections: Route = {
  method: 'get',
  path: '/v1/reflections',
  role: 'viewer',
  summary:
    'Lessons with a signature, about an error (`similar_to`), with words of the error or the lesson (`q`), of a `tool`, a `code` or a `fingerprint`, or the latest. With an agent: its lessons and those for all agents; without: those of every agent, except with `similar_to`',
  query: listQuery,
  answer: { status: 200, description: 'The best match first', schema: 'Reflections' },
  handle: async (c, { store, registry }) => {
    const asked = readQuery(c, listQuery);
    const { signature: wanted, similar_to, tenant: named, limit: size, retired, cursor: after, ...filter } = asked;
    const { agent, error_type, q, tool, code, fingerprint } = filter;
    const tenant = tenantFor(c.get('grant'), named);
    const scoped = { ...searchScope(agent, tenant), ...defined({ error_type, limit: size }) };
    const answer = async (found: RecalledReflection[], next: string | null = null): Promise<Response> => {
      const superseded = await findSuperseded(found, { store, registry });
      return answerJson(c, { reflections: found.map((lesson) => shown(lesson, superseded)), ...page(next) });
    };
    if (wanted !== undefined)
      return answer(await store.reflections.bySignature({ ...scoped, error_signature: wanted }));
    if (similar_to !== undefined) return answer(await store.reflections.similar({ ...scoped, content: similar_to }));
    const isRanked = [agent, q, tool, code, fingerprint].some((value) => value !== undefined);
    if (isRanked && retired !== 'true') {
      // Whoever names an agent sees what that agent sees, which ends at a tenant.
      const whose = defined({ tenant: agent === undefined ? tenant : (tenant ?? null), limit: size });
      return answer(await store.reflections.search({ ...filter, ...whose }));
    }
    const listed = defined({ error_type, tenant, agent, cursor: after, limit: size });
    const words = searchWords(q ?? '');
    const found = await store.reflections.listAll({ ...listed, words, retired: retired === 'true' });
    return answer(found.items, found.next_cursor);
  },
};

/** Says of each lesson that a changed tool schema supersedes why no run sees it. A pinned lesson is always shown. */
export async function findSuperseded(
  lessons: readonly Pick<RecalledReflection, 'id' | 'pinned'>[],
  { store, registry }: Pick<ApiDeps, 'store' | 'registry'>,
): Promise<ReadonlyMap<number, string>> {
  const schemas = await store.reflections.schemasOf(lessons.map(({ id }) => id));
  const now = Object.fromEntries([...registry.tools].map(([name, { manifest }]) => [name, manifest.schema_hash]));
  const found = lessons.flatMap(({ id, pinned }): [number, string][] => {
    const tool = pinned ? null : findChangedTool(schemas.get(id) ?? [], now);
    return tool === null ? [] : [[id, explainChangedTool(tool)]];
  });
  return new Map(found);
}

export const shown = (found: RecalledReflection, superseded: ReadonlyMap<number, string>) => ({
  id: found.id,
  agent: found.scope === 'global' ? null : found.agent,
  tenant: found.tenant,
  category: found.category,
  fingerprint: found.fingerprint,
  content: found.content,
  rationale: found.rationale,
  tags: found.tags,
  context: found.context,
  pinned: found.pinned,
  status: superseded.has(found.id) ? ('superseded' as const) : found.status,
  superseded_because: superseded.get(found.id) ?? null,
  occurrence_count: found.occurrence_count,
  score: found.score,
  reason: found.reason,
});

const seenQuery = z.strictObject({
  signature: signature.optional(),
  error_type: name.optional(),
  content: z.string().min(1).max(ADDRESS_CHARS).optional(),
  agent: name.optional(),
  tool: name.optional(),
  tenant: tenantSchema.optional(),
});

export const reflectionSeen: Route = {
  method: 'get',
  path: '/v1/reflections/seen',
  role: 'viewer',
  summary:
    'Whether an error was seen before, as a failure or in a lesson: by signature, or by its text, also in other words',
  query: seenQuery,
  answer: { status: 200, description: 'Whether it was seen, and how often', schema: 'ReflectionSeen' },
  handle: async (c, { store }) => {
    const { signature: wanted, error_type, content, agent, tool, tenant: named } = readQuery(c, seenQuery);
    if (wanted === undefined && content === undefined) {
      const message = 'expected a signature, or the content of an error';
      throw new Problem('bad_request', 'Send a signature, or the content of an error.', {
        errors: [{ path: 'signature', message }],
      });
    }
    const tenant = tenantFor(c.get('grant'), named) ?? null;
    const error_signature = wanted ?? errorSignature(error_type ?? '', content ?? '');
    // A whole traceback is compared by the line that says what is wrong, as it is recorded.
    const text = content === undefined ? undefined : salientLine(content);
    const [lesson, failure] = await Promise.all([
      store.reflections.seen({
        ...searchScope(agent, tenant ?? undefined),
        error_signature,
        ...defined({ error_type, content: text }),
      }),
      text === undefined ? null : store.knownFailures.seen({ text, tenant, ...defined({ tool }) }),
    ]);
    return answerJson(c, {
      seen: lesson !== null || failure !== null,
      occurrence_count: Math.max(lesson?.occurrence_count ?? 0, failure?.occurrence_count ?? 0),
      ...defined({ lesson: lesson === null ? undefined : { id: lesson.id, reason: lesson.reason } }),
      ...defined({ failure: failure === null ? undefined : failure }),
    });
  },
};

const reflectionId = z.string().regex(/^[1-9][0-9]{0,14}$/);

export const reviseReflection: Route = {
  method: 'post',
  path: '/v1/reflections/{id}/revisions',
  role: 'operator',
  summary: 'Retire, restore, pin, unpin or edit a lesson. Earlier revisions are kept',
  params: { id: reflectionId },
  body: 'ReflectionRevisionRequest',
  answer: { status: 201, description: 'The revision', schema: 'ReflectionRevised' },
  problems: ['reflection_not_found'],
  handle: async (c, { store }) => {
    const id = reflectionId.safeParse(c.req.param('id'));
    const { action, content, by, reason } = await readBody(c, SCHEMAS.ReflectionRevisionRequest);
    if ((action === 'edit') !== (content !== undefined)) {
      const errors = [{ path: '$.content', message: 'content is required for an edit and not allowed otherwise' }];
      throw new Problem('bad_request', 'Correct the named fields and send it again.', { errors });
    }
    const known = id.success ? await store.reflections.get(Number(id.data)) : null;
    const { tenant: own } = c.get('grant');
    if (known === null || (own !== undefined && known.tenant !== own))
      throw new Problem('reflection_not_found', 'There is no lesson with this id. Check the id.');
    const redact = c.get('redact');
    const revision = await store.reflections.revise({
      reflection_id: known.id,
      action,
      by: redact(by),
      ...(content !== undefined && { content: redact(content) }),
      ...(reason !== undefined && { reason: redact(reason) }),
    });
    return answerJson(c, revision, 201);
  },
};
