import { z } from 'zod';
import { ID_PATTERN } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import { problemStatus, type ProblemCode } from './problem.ts';
import type { Answer, Route } from './route.ts';
import { EXAMPLES } from './schemas/examples.ts';
import { SCHEMAS, type SchemaName } from './schemas/all-schemas.ts';

type JsonObject = { [key: string]: Json };

/**
 * OpenAPI 3.1 speaks JSON Schema 2020-12, and so does zod itself: no generator in between. (The one of hono runs out of
 * stack on `z.json()`, which may hold itself.)
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, routes) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Secondwind', version, description: 'Durable agent runs that learn from their failures.' },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchemaOf(schema)])),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(route: Route, all: readonly Route[]): JsonObject {
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
        [route.answer, ...(route.moreAnswers ?? [])].map((answer) => goodAnswer(answer, linksOf(answer, all))),
      ),
      ...Object.fromEntries(statusesOf(route).map((code) => [code, problemAnswer()])),
    },
  };
}

function statusesOf(route: Route): number[] {
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
  body === undefined ? {} : { requestBody: { required: true, content: contentOf(body, EXAMPLES[body]) } };

const operationId = (route: Route): string =>
  `${route.method}_${route.path}`.replaceAll(/[^a-z0-9]+/g, '_').replace(/_$/, '');

const pathParameters = ({ path, params = {} }: Route): JsonObject[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: params[name] ? jsonSchemaOf(params[name]) : { type: 'string', pattern: ID_PATTERN.source },
  }));

/** What a parameter means, a number say; that it travels as text goes without saying. */
const queryParameters = ({ query }: Route): JsonObject[] =>
  Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const field = schema as z.ZodType;
    const required = !field.safeParse(undefined).success;
    return {
      name,
      in: 'query',
      required,
      schema: jsonSchemaOf(field, 'output'),
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

/** Where an id in an answer leads. */
const LED_TO: Partial<Record<SchemaName, { id: string; parameter: string; paths: RegExp }>> = {
  StartedRun: { id: 'run_id', parameter: 'run_id', paths: /^\/v1\/runs\/\{run_id\}/ },
  FailureTaken: { id: 'failure_id', parameter: 'failure_id', paths: /^\/v1\/failures\/\{failure_id\}/ },
  ReflectionTaken: { id: 'id', parameter: 'id', paths: /^\/v1\/reflections\/\{id\}/ },
  LoopAnswer: { id: 'loop_id', parameter: 'loop_id', paths: /\{loop_id\}/ },
};

function linksOf({ schema }: Answer, all: readonly Route[]): JsonObject {
  const led = schema && LED_TO[schema];
  if (!led) return {};
  const targets = all.filter((route) => led.paths.test(route.path) && !route.answer.media).map(operationId);
  const parameters = { [led.parameter]: `$response.body#/${led.id}` };
  return Object.fromEntries(targets.map((target) => [target, { operationId: target, parameters }]));
}

const contentOf = (name: SchemaName, example?: Json): JsonObject => ({
  'application/json': {
    schema: { $ref: `#/components/schemas/${name}` },
    ...(example !== undefined && { example }),
  },
});

const problemAnswer = (): JsonObject => ({
  description: 'What is wrong and what to do (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

/** The only parts that refer to themselves are `z.json()`: any JSON, which the empty schema says in place. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output' = 'input'): Json {
  const { $defs: _anyJson, $schema: _version, ...rest } = z.toJSONSchema(schema, { io });
  return JSON.parse(JSON.stringify(rest), (_key, value: Json) => (isReference(value) ? {} : withoutTuple(value)));
}

/** A list of so many alike says the same as a tuple, and more tools understand it. */
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
