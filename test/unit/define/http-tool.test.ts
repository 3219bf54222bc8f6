/** HTTP tools against real sockets on this machine. Nothing here leaves it: one test tries to, and must not arrive. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../../src/define/define-tool.ts';
import { isPublic } from '../../../src/define/http/addresses.ts';
import type { HttpOutput } from '../../../src/define/http/http-output.ts';
import { httpTool, type HttpRequest, type HttpToolDefinition } from '../../../src/define/http/http-tool.ts';
import { failed, request, succeeded, toolEnvironment } from '../../support/tool-environment.ts';

const open = new Set<Server | TcpServer>();
afterEach(async () => {
  for (const server of open) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  open.clear();
});

interface Site {
  url: string;
  port: number;
  requests: IncomingMessage[];
}

async function serve(listener: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const server = createServer((asked, answer) => {
    requests.push(asked);
    listener(asked, answer);
  });
  open.add(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

type Rest = Partial<HttpToolDefinition<unknown, HttpOutput>>;
const tool = (asked: string | HttpRequest, rest: Rest = {}): Tool =>
  httpTool({
    name: 'tool',
    effect: 'read',
    input: z.unknown(),
    allowPrivate: true,
    request: () => (typeof asked === 'string' ? { url: asked } : asked),
    ...rest,
  });
const outputOf = async (made: Tool, given: Parameters<typeof request>[1] = {}): Promise<HttpOutput> =>
  (await succeeded(made, request({}, given))).output as HttpOutput;

describe('an HTTP tool', () => {
  it('an HTTP tool returns status, useful headers and body', async () => {
    const site = await serve((_asked, answer) => {
      answer
        .setHeader('content-type', 'text/plain; charset=latin1')
        .setHeader('set-cookie', 'a=b')
        .end(Buffer.from([0xfc]));
    });
    expect(await outputOf(tool(`${site.url}/x?y=1`))).toEqual({
      status: 200,
      url: `${site.url}/x?y=1`,
      headers: { 'content-type': 'text/plain; charset=latin1' },
      body: 'ü',
      truncated: false,
    });
  });

  it('an HTTP tool sends its request, with the idempotency key if it is not a read', async () => {
    const bodies: string[] = [];
    const site = await serve((asked, answer) => {
      let body = '';
      asked
        .on('data', (chunk) => (body += String(chunk)))
        .on('end', () => {
          bodies.push(body);
          answer.end('{"ok": true}');
        });
    });
    const post = { method: 'post', url: site.url, json: { a: 1 }, headers: { 'X-Own': 'yes', Host: 'evil.example' } };
    const json = httpTool({
      name: 'tool',
      effect: 'idempotent',
      input: z.unknown(),
      allowPrivate: true,
      output: z.object({ ok: z.boolean() }),
      request: () => post,
    });
    expect((await succeeded(json, request({}))).output).toEqual({ ok: true });
    await succeeded(tool(site.url, { output: 'json' }), request({}));
    expect(bodies).toEqual(['{"a":1}', '']);
    expect(site.requests.map(({ method, headers }) => [method, headers['idempotency-key'], headers['x-own']])).toEqual([
      ['POST', 'run-1:1', 'yes'],
      ['GET', undefined, undefined],
    ]);
    expect(site.requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      host: `127.0.0.1:${site.port}`,
    });
  });

  it('an HTTP tool sends a password of the URL in a header, and shows it nowhere', async () => {
    const site = await serve((_asked, answer) => answer.end('hi'));
    const output = await outputOf(tool(site.url.replace('//', '//me:s3cret%20word@')));
    expect(output.url).toBe(`${site.url}/`);
    expect(site.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:s3cret word').toString('base64')}`);
  });

  it('an HTTP tool stores a body that is not text as bytes', async () => {
    const site = await serve((_asked, answer) => answer.end(Buffer.from([0xff, 0x00, 0xfe])));
    const env = toolEnvironment();
    const outcome = await succeeded(tool(site.url), request({}), env);
    expect(env.artifacts.get(outcome.kept?.[0]?.artifact_id ?? '')).toEqual(Buffer.from([0xff, 0x00, 0xfe]));
  });

  it('an HTTP tool refuses an invalid method or header', async () => {
    const bad: HttpRequest[] = [
      { url: 'http://127.0.0.1/', headers: { 'bad name': 'x' } },
      { url: 'http://127.0.0.1/', headers: { name: 'a\r\nb: c' } },
      { url: 'http://127.0.0.1/', method: 'CONNECT' },
    ];
    for (const asked of bad) {
      expect(await failed(tool(asked), request({}))).toMatchObject({
        error_code: 'BAD_REQUEST',
        certainty: 'not_started',
      });
    }
    for (const [url, error_code] of [
      ['nonsense', 'INVALID_URL'],
      ['http://', 'INVALID_URL'],
      ['file:///etc/passwd', 'INVALID_URL'],
      ['ftp://127.0.0.1/', 'SCHEME_DENIED'],
      ['gopher://127.0.0.1/', 'SCHEME_DENIED'],
    ] as const) {
      expect(await failed(tool(url), request({}))).toMatchObject({ error_code, certainty: 'not_started' });
    }
  });
});

describe('how a request failed', () => {
  it('a 503 is not retried within an attempt', async () => {
    const site = await serve((_asked, answer) => void answer.writeHead(503).end('<title>Down for repair</title>'));
    expect(await failed(tool(site.url), request({}))).toMatchObject({
      category: 'server_error',
      error_code: 'HTTP_503',
      certainty: 'failed',
      message_preview: 'HTTP 503 from 127.0.0.1: Down for repair',
    });
    expect(site.requests).toHaveLength(1);
  });

  it.each<[string, () => string, number]>([
    ['seconds', () => '7', 7_000],
    ['a date', () => new Date(Date.now() + 60_000).toUTCString(), 60_000],
  ])('a 429 with a Retry-After in %s keeps its wait', async (_what, header, wait) => {
    const site = await serve((_asked, answer) => void answer.writeHead(429, { 'retry-after': header() }).end());
    const outcome = await failed(tool(site.url), request({}));
    expect(outcome).toMatchObject({ category: 'rate_limit', error_code: 'HTTP_429', certainty: 'failed' });
    expect(Math.abs((outcome.retry_after_ms ?? 0) - wait)).toBeLessThan(3_000);
  });

  it('a 429 for an unpaid bill counts as quota', async () => {
    const body = '{"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}';
    const site = await serve((_asked, answer) => void answer.writeHead(429).end(body));
    expect(await failed(tool(site.url), request({}))).toMatchObject({ category: 'quota' });
  });

  it('if the connection breaks after the request was sent, the effect is unknown', async () => {
    const site = await serve((asked) => void asked.socket.resetAndDestroy());
    const post = tool({ method: 'POST', url: site.url, body: 'x' }, { effect: 'side_effect' });
    expect(await failed(post, request({}))).toMatchObject({
      category: 'network',
      error_code: 'ECONNRESET',
      certainty: 'unknown',
    });
  });

  it('if the connection breaks in the middle of the answer, the effect is unknown', async () => {
    const site = await serve((asked, answer) => {
      answer.writeHead(200, { 'content-length': '100' }).write('half', () => asked.socket.resetAndDestroy());
    });
    expect(await failed(tool(site.url), request({}))).toMatchObject({ category: 'network', certainty: 'unknown' });
  });

  it('an error status with an incomplete body is still that error', async () => {
    const site = await serve((asked, answer) => {
      answer.writeHead(500, { 'content-length': '100' }).write('half', () => asked.socket.resetAndDestroy());
    });
    expect(await failed(tool(site.url), request({}))).toMatchObject({ error_code: 'HTTP_500', certainty: 'failed' });
  });

  it('if the answer is not HTTP, the effect is unknown', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('SSH-2.0-whatever\r\n\r\n'));
    });
    open.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const outcome = await failed(tool(`http://127.0.0.1:${port}/`), request({}));
    expect(outcome).toMatchObject({ certainty: 'unknown' });
  });

  it('if the connection, the DNS lookup or TLS fails, the request was not started', async () => {
    const site = await serve((_asked, answer) => answer.end());
    const free = createTcpServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const gone = () =>
      Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND no.example'), { code: 'ENOTFOUND' }));
    const post = (url: string, rest: Rest = {}) => tool({ method: 'POST', url }, { effect: 'side_effect', ...rest });
    expect(await failed(post(`http://127.0.0.1:${port}/`), request({}))).toMatchObject({
      category: 'network',
      error_code: 'ECONNREFUSED',
      certainty: 'not_started',
    });
    expect(await failed(post('http://no.example/', { resolve: gone }), request({}))).toMatchObject({
      category: 'network',
      error_code: 'ENOTFOUND',
      certainty: 'not_started',
    });
    expect(await failed(post('http://no.example/', { resolve: async () => [] }), request({}))).toMatchObject({
      error_code: 'ENOTFOUND',
    });
    expect(await failed(post(site.url.replace('http:', 'https:')), request({}))).toMatchObject({
      certainty: 'not_started',
    });
    expect(site.requests).toHaveLength(0);
  });

  it('a server that hangs times out, and the effect is unknown', async () => {
    const site = await serve(() => undefined);
    const outcome = await failed(tool(site.url), request({}, { timeout_ms: 200 }));
    expect(outcome).toMatchObject({ category: 'timeout', error_code: 'TIMEOUT', certainty: 'unknown' });
  });

  it('a DNS server that hangs times out, and nothing was sent', async () => {
    const hangs = tool('http://slow.example/', { resolve: () => new Promise(() => undefined) });
    expect(await failed(hangs, request({}, { timeout_ms: 200 }))).toMatchObject({ certainty: 'not_started' });
  });

  it('an endless body is cut off at the cap', async () => {
    const site = await serve((asked, answer) => {
      const pump = () => {
        while (!asked.socket.destroyed && answer.write('x'.repeat(65_536)));
      };
      answer.on('drain', pump);
      pump();
    });
    const endless = tool(site.url, { maxBytes: 100_000 });
    expect(await failed(endless, request({}))).toMatchObject({ error_code: 'OUTPUT_TOO_LARGE', max_bytes: 100_000 });
    const paid = tool({ method: 'POST', url: site.url }, { maxBytes: 100_000, effect: 'side_effect' });
    expect(await failed(paid, request({}))).toMatchObject({ certainty: 'done' });
    // Once the run knows, it takes the start of it.
    const output = await succeeded(endless, request({}, { constraints: { max_output_bytes: 5_000 } }));
    expect(output.bytes).toBeLessThanOrEqual(5_000);
    expect(output.output).toMatchObject({ truncated: true });
  });

  it('a body with a Content-Length over the cap is not read', async () => {
    const site = await serve(
      (_asked, answer) => void answer.writeHead(200, { 'content-length': '999999999' }).write('x'),
    );
    expect(await failed(tool(site.url), request({}))).toMatchObject({ error_code: 'OUTPUT_TOO_LARGE' });
  });

  it('an answer that is not JSON violates the contract of a JSON tool', async () => {
    const site = await serve((_asked, answer) => answer.end('<html>'));
    expect(await failed(tool(site.url, { output: 'json' }), request({}))).toMatchObject({
      category: 'contract_violation',
      error_code: 'BODY_NOT_JSON',
    });
  });

  it('a content encoding that was not requested is a failure', async () => {
    const site = await serve((_asked, answer) => void answer.writeHead(200, { 'content-encoding': 'gzip' }).end('x'));
    expect(await failed(tool(site.url), request({}))).toMatchObject({ error_code: 'ENCODING_UNKNOWN' });
  });
});

describe('redirects', () => {
  const redirectTo = (status: number, location: string) =>
    serve((_asked, answer) => void answer.writeHead(status, { location }).end());

  it('redirects are followed, at most five', async () => {
    const site = await serve((asked, answer) => {
      const left = Number(asked.url?.slice(1));
      if (left === 0) answer.end('there');
      else answer.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await outputOf(tool(`${site.url}/5`))).toMatchObject({ body: 'there', url: `${site.url}/0` });
    expect(await failed(tool(`${site.url}/6`), request({}))).toMatchObject({ error_code: 'TOO_MANY_REDIRECTS' });
  });

  it('a redirected POST becomes a GET; 307 and 308 send it again', async () => {
    const seen: string[] = [];
    const target = await serve((asked, answer) => {
      asked.on('data', (chunk) => seen.push(String(chunk))).on('end', () => answer.end());
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const site = await redirectTo(status, target.url);
      await succeeded(tool({ method: 'POST', url: site.url, body: `body ${status}` }), request({}));
    }
    expect(target.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST', 'POST']);
    expect(seen).toEqual(['body 307', 'body 308']);
  });

  it('redirects send credentials only to the same origin', async () => {
    const target = await serve((_asked, answer) => answer.end());
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'secret', accept: 'text/plain' };
    const other = await redirectTo(307, target.url);
    await succeeded(tool({ url: other.url, headers }), request({}));
    expect(target.requests[0]?.headers).toMatchObject({ accept: 'text/plain' });
    for (const name of ['authorization', 'cookie', 'x-api-key'])
      expect(target.requests[0]?.headers).not.toHaveProperty(name);
    const same = await serve((asked, answer) => {
      if (asked.url === '/') answer.writeHead(302, { location: '/next' });
      answer.end();
    });
    await succeeded(tool({ url: same.url, headers }), request({}));
    expect(same.requests[1]?.headers).toMatchObject(headers);
  });

  it('redirects to a private address are refused, and the host is named', async () => {
    const inside = await serve((_asked, answer) => answer.end('secret'));
    const site = await redirectTo(302, `http://localhost:${inside.port}/`);
    const strict = tool(site.url, { allowPrivate: [`127.0.0.1:${site.port}`] });
    expect(await failed(strict, request({}))).toMatchObject({
      category: 'invalid_input',
      error_code: 'HOST_DENIED',
      denied: { host: 'localhost' },
      certainty: 'failed',
    });
    expect(inside.requests).toHaveLength(0);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:127.0.0.1]/',
    'http://2130706433/',
    '//0x7f.1/',
    'ftp://x/',
    'http://[',
  ])('redirects to %s are refused', async (location) => {
    const site = await redirectTo(302, location);
    const strict = tool(site.url, { allowPrivate: [`127.0.0.1:${site.port}`] });
    expect(await failed(strict, request({}))).toMatchObject({ category: 'invalid_input', certainty: 'failed' });
  });

  it('if a redirect of an accepted POST fails, the effect is unknown', async () => {
    const site = await redirectTo(303, 'http://127.0.0.1:1/');
    const post = tool({ method: 'POST', url: site.url }, { effect: 'side_effect' });
    expect(await failed(post, request({}))).toMatchObject({ error_code: 'ECONNREFUSED', certainty: 'unknown' });
    const target = await serve((_asked, answer) => void answer.writeHead(500).end());
    const on = await redirectTo(303, target.url);
    expect(await failed(tool({ method: 'POST', url: on.url }), request({}))).toMatchObject({ certainty: 'unknown' });
  });

  it('redirects to a host that is denied by a constraint are refused', async () => {
    const target = await serve((_asked, answer) => answer.end());
    const site = await redirectTo(302, target.url.replace('127.0.0.1', 'localhost'));
    const constraints = { denied_hosts: ['LOCALHOST.'] };
    expect(await failed(tool(site.url), request({}, { constraints }))).toMatchObject({
      error_code: 'DENIED_BY_CONSTRAINT',
    });
    expect(target.requests).toHaveLength(0);
  });
});

describe('where a request may go', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f000001/',
    'http://127.1/',
    'http://0.0.0.0/',
    'http://10.1.2.3/',
    'http://172.31.0.1/',
    'http://192.168.0.1/',
    'http://100.100.100.200/',
    'http://169.254.169.254/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[ff02::1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:db8::1]/',
  ])('a request to %s is refused', async (url) => {
    const outcome = await failed(tool(url, { allowPrivate: false }), request({}));
    expect(outcome).toMatchObject({ error_code: 'HOST_DENIED', certainty: 'not_started' });
    expect(outcome.denied).toEqual({ host: new URL(url).hostname.replaceAll(/[[\]]/g, '') });
  });

  it('public addresses are allowed', () => {
    const open = ['8.8.8.8', '1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'];
    expect(open.filter(isPublic)).toEqual(open);
    expect(['', 'x', '1.2.3', 'fe80::1%eth0', '2606:4700::1%eth0'].filter(isPublic)).toEqual([]);
  });

  it('a request may go to private hosts that the tool allows, by name and port', async () => {
    const site = await serve((_asked, answer) => answer.end('in'));
    const ask = (allowPrivate: string[]) =>
      tool(`http://inside.example:${site.port}/`, {
        allowPrivate,
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      });
    expect((await outputOf(ask(['inside.example']))).body).toBe('in');
    expect((await outputOf(ask([`Inside.Example:${site.port}`]))).body).toBe('in');
    for (const other of [['inside.example:1'], ['other.example'], ['127.0.0.1'], []]) {
      expect(await failed(ask(other), request({}))).toMatchObject({ error_code: 'HOST_DENIED' });
    }
    expect(site.requests[0]?.headers.host).toBe(`inside.example:${site.port}`);
  });

  it('a host with one private address among several is refused', async () => {
    const mixed = tool('http://mixed.example/', {
      allowPrivate: false,
      resolve: async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    });
    expect(await failed(mixed, request({}))).toMatchObject({
      error_code: 'HOST_DENIED',
      denied: { host: 'mixed.example' },
    });
  });

  it('a request goes to the address that was checked, even if the name resolves differently later', async () => {
    const inside = await serve((_asked, answer) => answer.end('secret'));
    let asked = 0;
    const first = tool(`http://rebinding.example:${inside.port}/`, {
      resolve: async () => {
        asked += 1;
        return [{ address: asked === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
      },
    });
    const outcome = await failed(first, request({}, { timeout_ms: 2_000 }));
    expect(outcome).toMatchObject({ error_code: 'ECONNREFUSED', certainty: 'not_started' });
    expect(asked).toBe(1);
    expect(inside.requests).toHaveLength(0);
  });

  it(
    'a public name that later resolves to a private address is not connected to there',
    { timeout: 10_000 },
    async () => {
      const inside = await serve((_asked, answer) => answer.end('secret'));
      let asked = 0;
      const turns = tool(`http://turns.example:${inside.port}/`, {
        allowPrivate: false,
        resolve: async () => {
          asked += 1;
          return [{ address: asked === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }];
        },
      });
      const outcome = await failed(turns, request({}, { timeout_ms: 500 }));
      expect(outcome.error_code).not.toBe('HOST_DENIED');
      expect(outcome.certainty).toBe('not_started');
      expect(asked).toBe(1);
      expect(inside.requests).toHaveLength(0);
    },
  );
});
