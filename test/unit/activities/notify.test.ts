/** Real sockets on loopback. Shows what a webhook receives, and what becomes of one that does not answer well. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNotifyActivities } from '../../../src/activities/notify.ts';
import { isPublicAddress, lookupPublic } from '../../../src/activities/webhooks/public-address.ts';
import type { QuestionNotice } from '../../../src/protocol/notices.ts';
import { aQuestion } from '../../support/questions.ts';

interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers by the number of the request, counted from 1. */
async function listen(answer: (response: ServerResponse, nth: number) => void) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ method: request.method, path: request.url, headers: request.headers, body });
      answer(response, received.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hush` };
}

const ok = (response: ServerResponse) => response.writeHead(204).end();

const noticeTo = (urls: string[], over: Partial<QuestionNotice> = {}): QuestionNotice => ({
  run_id: 'run 7',
  agent: 'clerk',
  goal: 'pay the invoices',
  question: aQuestion(),
  escalation: 0,
  to: null,
  urls,
  ...over,
});

const SECRET = 'a secret of the test';
function notifier(env: NodeJS.ProcessEnv = {}, waitsMs = [1, 1, 1], timeoutMs = 5_000) {
  const lines: [string, Record<string, unknown>][] = [];
  const log = { warn: (message: string, fields: Record<string, unknown>) => void lines.push([message, fields]) };
  const allowed = { SECONDWIND_WEBHOOK_ALLOW_PRIVATE: '1', SECONDWIND_WEBHOOK_SECRET: SECRET, ...env };
  return { lines, notify: createNotifyActivities({ env: allowed, log, timeoutMs, waitsMs }).notify };
}

describe('a webhook', () => {
  it('a webhook gets the question, its options, its deadline and the URL to answer, signed with the time', async () => {
    const { received, url } = await listen(ok);
    const { notify, lines } = notifier({ SECONDWIND_PUBLIC_URL: 'https://wind.example/base/' });
    expect(await notify(noticeTo([url]))).toEqual({ delivered: 1, failed: 0 });
    const [request] = received;
    expect(request).toMatchObject({ method: 'POST', path: '/hook?key=hush' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'secondwind-delivery': 'run-7:q1:0',
    });
    const { urls: _urls, ...notice } = noticeTo([]);
    expect(JSON.parse(request?.body ?? '')).toEqual({
      type: 'question_asked',
      delivery_id: 'run-7:q1:0',
      ...notice,
      answer_url: 'https://wind.example/base/v1/runs/run%207/answer',
      page_url: 'https://wind.example/base/ui/inbox?question=run-7%3Aq1',
    });
    const [, seconds, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request?.headers['secondwind-signature'])) ?? [];
    const expected = createHmac('sha256', SECRET).update(`${seconds}.${request?.body}`).digest('hex');
    expect(signature).toBe(expected);
    expect(Math.abs(Date.now() / 1_000 - Number(seconds))).toBeLessThan(60);
    expect(lines).toEqual([]);
  });

  it('a webhook that fails twice is called a third time, with the same delivery id', async () => {
    const { received, url } = await listen((response, nth) => (nth < 3 ? response.writeHead(503).end() : ok(response)));
    expect(await notifier().notify(noticeTo([url], { escalation: 1, to: 'bob' }))).toEqual({ delivered: 1, failed: 0 });
    expect(received.map(({ headers }) => headers['secondwind-delivery'])).toEqual(Array(3).fill('run-7:q1:1'));
    expect(JSON.parse(received[2]?.body ?? '')).toMatchObject({
      type: 'question_escalated',
      to: 'bob',
      answer_url: null,
      page_url: null,
    });
  });

  it('a webhook that never accepts is given up after four tries; the log names its host and no secret', async () => {
    const { received, url } = await listen((response) => response.writeHead(500).end());
    const { notify, lines } = notifier();
    expect(await notify(noticeTo([url]))).toEqual({ delivered: 0, failed: 1 });
    expect(received).toHaveLength(4);
    const fields = { host: new URL(url).host, tries: 4, reason: 'answered 500' };
    expect(lines).toEqual([['webhook_failed', expect.objectContaining(fields)]]);
    expect(JSON.stringify(lines)).not.toMatch(/hush|a secret/);
  });

  it.each([404, 301])('a webhook that answers %i is not called again, and no redirect is followed', async (status) => {
    const other = await listen(ok);
    const { received, url } = await listen((response) => response.writeHead(status, { location: other.url }).end());
    expect(await notifier().notify(noticeTo([url]))).toEqual({ delivered: 0, failed: 1 });
    expect(received).toHaveLength(1);
    expect(other.received).toEqual([]);
  });

  it('a webhook that hangs takes its timeout for each try, and the others are called meanwhile', async () => {
    const hanging = await listen(() => {});
    const quick = await listen(ok);
    const { notify, lines } = notifier({}, [1], 150);
    expect(await notify(noticeTo([hanging.url, quick.url]))).toEqual({ delivered: 1, failed: 1 });
    expect(hanging.received).toHaveLength(2);
    expect(lines[0]?.[1]).toMatchObject({ tries: 2, reason: 'gave no answer within 150 ms' });
  });

  it('a webhook whose response never ends counts as delivered', async () => {
    const { url } = await listen((response) => response.writeHead(200).write('and so on '));
    expect(await notifier().notify(noticeTo([url]))).toEqual({ delivered: 1, failed: 0 });
  });

  it('a webhook is called unsigned without a secret, with one warning', async () => {
    const { received, url } = await listen(ok);
    const { notify, lines } = notifier({ SECONDWIND_WEBHOOK_SECRET: '' });
    await notify(noticeTo([url]));
    await notify(noticeTo([url]));
    expect(received.map(({ headers }) => headers['secondwind-signature'])).toEqual([undefined, undefined]);
    expect(lines.map(([message]) => message)).toEqual(['webhook_unsigned']);
  });
});

describe('an address that is not public', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
    'as %s is never called unless that is allowed',
    async (host) => {
      const { received, url } = await listen(ok);
      const { notify, lines } = notifier({ SECONDWIND_WEBHOOK_ALLOW_PRIVATE: '' });
      const target = url.replace('127.0.0.1', host);
      expect(await notify(noticeTo([target]))).toEqual({ delivered: 0, failed: 1 });
      expect(received).toEqual([]);
      expect(lines[0]?.[1]).toMatchObject({ tries: 1, reason: expect.stringContaining('is not a public address') });
    },
  );

  it.each(['10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', 'fd00::1', 'fe80::1'])(
    '%s is one',
    (address) => expect(isPublicAddress(address)).toBe(false),
  );

  it.each(['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is none', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it('a private address is refused by the lookup of the connection itself', async () => {
    const found = await new Promise((resolve) => lookupPublic('localhost', {}, (error) => resolve(error)));
    expect(found).toMatchObject({ name: 'PrivateAddressError' });
  });

  it('a URL that is not http or https is refused', async () => {
    const { notify, lines } = notifier();
    expect(await notify(noticeTo(['file:///etc/passwd', 'nonsense']))).toEqual({ delivered: 0, failed: 2 });
    expect(lines).toHaveLength(2);
  });
});
