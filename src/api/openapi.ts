import { z } from 'zod';
import { ID_PATTERN } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import { problemStatus, type ProblemCode } from './problem.ts';
import type { Answer, Route } from './route.ts';
import { SCHEMAS, type SchemaName } from './schemas/index.ts';

type JsonObject = { [key: string]: Json };

/**
 * OpenAPI 3.1 speaks JSON Schema 2020-12, and so does zod itself: no generator in between. (The one of hono runs out of
 * stack on `z.json()`, which may hold itself.)
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
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

function operationOf(route: Route): JsonObject {
  const role: JsonObject =
    route.role === null ? {} : { description: `Needs the role ${route.role}.`, security: [{ token: [] }] };
  return {
    summary: route.summary,
    operationId: operationId(route),
    ...role,
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...requestBody(route),
    responses: {
      ...Object.fromEntries([route.answer, ...(route.moreAnswers ?? [])].map(goodAnswer)),
      ...Object.fromEntries(statusesOf(route).map((code) => [code, problemAnswer()])),
    },
  };
}

function statusesOf(route: Route): number[] {
  const codes: ProblemCode[] = ['bad_http', 'foreign_host', 'internal', 'not_reachable', ...(route.problems ?? [])];
  if (route.role !== null) codes.push('no_token', 'weaker_role', 'too_many');
  if (route.query) codes.push('bad_request');
  if (route.body) codes.push('not_json', 'bad_request', 'too_large', 'slow_request');
  if (route.headers) codes.push('bad_request');
  return [...new Set(codes.map(problemStatus))].sort((one, other) => one - other);
}

const requestBody = ({ body }: Route): JsonObject =>
  body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } };

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

const goodAnswer = ({ status, description, schema, media }: Answer): [string, JsonObject] => [
  String(status),
  {
    description,
    ...(schema
      ? { content: contentOf(schema) }
      : media
        ? { content: { [media]: { schema: { type: 'string' } } } }
        : {}),
  },
];

const contentOf = (name: SchemaName): JsonObject => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});

const problemAnswer = (): JsonObject => ({
  description: 'What is wrong and what to do (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

/** The only parts that refer to themselves are `z.json()`: any JSON, which the empty schema says in place. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output' = 'input'): Json {
  const { $defs: _anyJson, $schema: _version, ...rest } = z.toJSONSchema(schema, { io });
  return JSON.parse(JSON.stringify(rest), (_key, value: Json) => (isReference(value) ? {} : value));
}

const isReference = (value: Json): boolean => typeof value === 'object' && value !== null && '$ref' in value;
