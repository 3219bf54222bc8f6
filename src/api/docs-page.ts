import { z } from 'zod';
import type { Answer, Route } from './route.ts';
import { SCHEMAS, type SchemaName } from './schemas/all-schemas.ts';

/** Renders the API description as one HTML page, without scripts and without external resources. */
export function docsPage(routes: readonly Route[], version: string): string {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const name = groupName(route.path);
    groups.set(name, [...(groups.get(name) ?? []), route]);
  }
  const used = new Set<SchemaName>(routes.flatMap(listSchemas));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Secondwind API ${escaped(version)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Secondwind API</h1>
<p>Version ${escaped(version)}. The same as <a href="/openapi.json">OpenAPI 3.1</a>. Send
<code>Authorization: Bearer &lt;token&gt;</code>; errors are <code>application/problem+json</code>.</p>
${[...groups].map(([name, members]) => `<h2>${escaped(name)}</h2>\n${members.map(routeHtml).join('\n')}`).join('\n')}
<h2>Shapes</h2>
${[...used].sort().map(schemaHtml).join('\n')}
</main>
</body>
</html>
`;
}

const groupName = (path: string): string => {
  const [, first = '', second = ''] = path.split('/');
  return first === 'v1' ? second : first === 'orchestrator' ? first : 'server';
};

const listSchemas = ({ body, answer, moreAnswers = [] }: Route): SchemaName[] =>
  [body, answer.schema, ...moreAnswers.map(({ schema }) => schema)].filter((name) => name !== undefined);

function routeHtml(route: Route): string {
  const { method, path, role, summary, body, query, answer, moreAnswers = [] } = route;
  const parameters = Object.keys(query?.shape ?? {});
  return `<section>
<h3><code><b>${method.toUpperCase()}</b> ${escaped(path)}</code></h3>
<p>${escaped(summary)}. ${role === null ? 'Needs no token.' : `Role: ${role}.`}</p>
<ul>
${parameters.length === 0 ? '' : `<li>Parameters: ${parameters.map((name) => `<code>${name}</code>`).join(', ')}</li>`}
${body === undefined ? '' : `<li>Body: ${linkTo(body)}</li>`}
${[answer, ...moreAnswers].map(answerHtml).join('\n')}
</ul>
</section>`;
}

const answerHtml = ({ status, description, schema, media }: Answer): string =>
  `<li>${status}: ${escaped(description)}${schema ? `, ${linkTo(schema)}` : media ? `, <code>${media}</code>` : ''}</li>`;

const linkTo = (name: SchemaName): string => `<a href="#${name}">${name}</a>`;

function schemaHtml(name: SchemaName): string {
  const { $schema: _version, ...schema } = z.toJSONSchema(SCHEMAS[name], { io: 'input' });
  const text = escaped(JSON.stringify(schema, null, 2));
  return `<details id="${name}"><summary>${name}</summary><pre>${text}</pre></details>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; }
h3 { margin-bottom: 0; font-weight: normal; }
section p { margin: 0; }
pre { overflow: auto; font-size: 0.85rem; }
`;
