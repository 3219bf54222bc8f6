import { z } from 'zod';
import { ID_PATTERN } from '../protocol/ids.ts';
import { defined, type Json } from '../protocol/json.ts';
import { problemStatus, type ProblemCode } from './problem.ts';
import type { Answer, Route } from './route.ts';
import { EXAMPLES } from './schemas/examples.ts';
import { SCHEMAS, type SchemaName } from './schemas/all-schemas.ts';

type JsonObject = { [key: string]: Json };

/**
 * Builds the OpenAPI 3.1 document. zod itself writes the JSON Schema (2020-12) that OpenAPI uses. The generator of hono is not used,
 * because it overflows the stack on `z.json()`, which is recursive.
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: buildOperation(route, routes) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Secondwind', version, description: 'Durable agent runs that learn from their failures.' },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, toJsonSchema(schema)])),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function buildOperation(route: Route, all: readonly Route[]): JsonObject {
  const role: JsonObject =
    route.role === null ? {} : { description: `Needs the role ${route.role}.`, security: [{ token: [] }] };
  return {
    summary: route.summary,
    operationId: operationId(route),
    ...role,
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...requestBody(route),
    responses: {
      ...Object.fromEntries(
        [route.answer, ...(route.moreAnswers ?? [])].map((answer) => goodAnswer(answer, buildLinks(answer, all))),
      ),
      ...Object.fromEntries(listStatuses(route).map((code) => [code, problemAnswer()])),
    },
  };
}

function listStatuses(route: Route): number[] {
  const codes: ProblemCode[] = [
    'bad_http',
    'large_head',
    'foreign_host',
    'internal',
    'not_reachable',
    ...(route.problems ?? []),
  ];
  if (route.role !== null) codes.push('no_token', 'weaker_role', 'too_many');
  if (route.query) codes.push('bad_request');
  if (route.body) codes.push('not_json', 'bad_request', 'too_large', 'slow_request');
  if (route.headers) codes.push('bad_request');
  return [...new Set(codes.map(problemStatus))].sort((one, other) => one - other);
}

const requestBody = ({ body }: Route): JsonObject =>
  body === undefined ? {} : { requestBody: { required: true, content: jsonContent(body, EXAMPLES[body]) } };

const operationId = (route: Route): string =>
  `${route.method}_${route.path}`.replaceAll(/[^a-z0-9]+/g, '_').replace(/_$/, '');

const pathParameters = ({ path, params = {} }: Route): JsonObject[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: params[name] ? toJsonSchema(params[name]) : { type: 'string', pattern: ID_PATTERN.source },
  }));

/** Describes a parameter by its meaning, such as a number, although it is sent as text. */
const queryParameters = ({ query }: Route): JsonObject[] =>
  Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const field = schema as z.ZodType;
    const required = !field.safeParse(undefined).success;
    return {
      name,
      in: 'query',
      required,
      schema: toJsonSchema(field, 'output'),
      ...(field.description && described(field)),
    };
  });
const described = (field: z.ZodType): JsonObject => ({ description: field.description ?? '' });

const headerParameters = ({ headers = [] }: Route): JsonObject[] =>
  headers.map(({ name, description }) => ({ name, in: 'header', description, schema: { type: 'string' } }));

const goodAnswer = (answer: Answer, links: JsonObject): [string, JsonObject] => {
  const { status, description, schema, media } = answer;
  const shape: JsonObject = schema ? { $ref: `#/components/schemas/${schema}` } : { type: 'string' };
  const content = schema || media ? { [media ?? 'application/json']: { schema: shape } } : null;
  const hasLinks = Object.keys(links).length > 0;
  return [String(status), { description, ...(content && { content }), ...(hasLinks && { links }) }];
};

/** For answers that contain an id: the routes that take it. */
const ID_LINKS: Partial<Record<SchemaName, { id: string; parameter: string; paths: RegExp }>> = {
  StartedRun: { id: 'run_id', parameter: 'run_id', paths: /^\/v1\/runs\/\{run_id\}/ },
  FailureTaken: { id: 'failure_id', parameter: 'failure_id', paths: /^\/v1\/failures\/\{failure_id\}/ },
  ReflectionTaken: { id: 'id', parameter: 'id', paths: /^\/v1\/reflections\/\{id\}/ },
  LoopAnswer: { id: 'loop_id', parameter: 'loop_id', paths: /\{loop_id\}/ },
};

function buildLinks({ schema }: Answer, all: readonly Route[]): JsonObject {
  const led = schema && ID_LINKS[schema];
  if (!led) return {};
  const targets = all.filter((route) => led.paths.test(route.path) && !route.answer.media).map(operationId);
  const parameters = { [led.parameter]: `$response.body#/${led.id}` };
  return Object.fromEntries(targets.map((target) => [target, { operationId: target, parameters }]));
}

const jsonContent = (name: SchemaName, example?: Json): JsonObject => ({
  'application/json': {
    schema: { $ref: `#/components/schemas/${name}` },
    ...defined({ example }),
  },
});

const problemAnswer = (): JsonObject => ({
  description: 'What is wrong and what to do next (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

/** Only `z.json()` refers to itself. It means any JSON, so the empty schema replaces it. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): Json {
  const { $defs: _anyJson, $schema: _version, ...rest } = z.toJSONSchema(schema, { io });
  return JSON.parse(JSON.stringify(rest), (_key, value: Json) => (isReference(value) ? {} : withoutTuple(value)));
}

/** Replaces a tuple of equal items by a list of fixed length, which more tools support. */
function withoutTuple(value: Json): Json {
  if (!isObject(value) || !Array.isArray(value['prefixItems'])) return value;
  const { prefixItems, ...rest } = value;
  const [first = {}, ...others] = prefixItems;
  const areAlike = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
  return areAlike ? { ...rest, items: first } : value;
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isReference = (value: Json): boolean => isObject(value) && '$ref' in value;
