/** A collector for OTLP over HTTP in JSON, with a real socket. It records everything it receives. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  /** As in OTLP: 1 internal, 2 server, 3 client. */
  kind: number;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  service: unknown;
  seconds: number;
}

export interface Collector {
  url: string;
  spans(): CollectedSpan[];
  /** Every byte of every request, as text. */
  received(): string;
  requests(): { path: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

export async function openCollector({ hangs = false }: { hangs?: boolean } = {}): Promise<Collector> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => requests.flatMap(({ body }) => spansIn(Buffer.from(body, 'latin1').toString('utf8'))),
    received: () => requests.map(({ body }) => Buffer.from(body, 'latin1').toString('utf8')).join('\n'),
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
  doubleValue?: number;
  arrayValue?: { values: Value[] };
}
type Pairs = { key: string; value: Value }[];
interface Exported {
  resourceSpans: {
    resource: { attributes: Pairs };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        status: { code?: number };
        attributes?: Pairs;
        events?: { name: string; attributes?: Pairs }[];
        startTimeUnixNano: string;
        endTimeUnixNano: string;
      }[];
    }[];
  }[];
}

function spansIn(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Exported;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || null,
        name: span.name,
        kind: span.kind,
        status: span.status.code ?? 0,
        attributes: valuesOf(span.attributes),
        events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: valuesOf(attributes) })),
        service: valuesOf(resource.attributes)['service.name'],
        seconds: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e9,
      })),
    ),
  );
}

const valuesOf = (pairs: Pairs = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
const plain = (value: Value): unknown =>
  value.arrayValue === undefined
    ? (value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue))
    : value.arrayValue.values.map(plain);
