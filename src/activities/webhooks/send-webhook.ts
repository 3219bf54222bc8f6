import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { lookupPublic, PrivateAddressError, refusePrivateHost } from './public-address.ts';

export interface WebhookSettings {
  /** Key for the signature. Without it, webhooks are sent unsigned. */
  secret: string | undefined;
  allowPrivate: boolean;
  /** Timeout of each try, until the response headers arrive. */
  timeoutMs: number;
  /** Waits before the second, third, … try. */
  waitsMs: readonly number[];
}

export interface Webhook {
  url: string;
  /** The same for every try, so that a receiver can recognize a repeated delivery. */
  deliveryId: string;
  body: string;
}

export type WebhookDelivery = { ok: true; tries: number } | { ok: false; tries: number; reason: string };

/** Sends a webhook, with a few retries. Redirects are not followed, because they could lead to a private address. */
export async function sendWebhook(webhook: Webhook, settings: WebhookSettings): Promise<WebhookDelivery> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryOnce(webhook, settings);
    if (outcome.ok) return { ok: true, tries };
    const wait = settings.waitsMs[tries - 1];
    if (!outcome.mayPass || wait === undefined) return { ok: false, tries, reason: outcome.reason };
    await pause(wait);
  }
}

type Try = { ok: true } | { ok: false; mayPass: boolean; reason: string };

async function tryOnce(webhook: Webhook, settings: WebhookSettings): Promise<Try> {
  try {
    const status = await post(webhook, settings);
    if (status >= 200 && status < 300) return { ok: true };
    const mayPass = status === 408 || status === 425 || status === 429 || status >= 500;
    return { ok: false, mayPass, reason: `answered ${status}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const refused = error instanceof PrivateAddressError || error instanceof TypeError;
    return { ok: false, mayPass: !refused, reason };
  }
}

function post({ url, deliveryId, body }: Webhook, settings: WebhookSettings): Promise<number> {
  const target = new URL(url);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') {
    throw new TypeError('only http and https URLs can be called');
  }
  if (!settings.allowPrivate) refusePrivateHost(target);
  const request = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const tooLate = AbortSignal.timeout(settings.timeoutMs);
    const sent = request(
      target,
      {
        method: 'POST',
        signal: tooLate,
        // A new connection for each try, because an idle connection may have been closed by the other side.
        agent: false,
        ...(settings.allowPrivate ? {} : { lookup: lookupPublic }),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'secondwind',
          'secondwind-delivery': deliveryId,
          ...(settings.secret === undefined ? {} : { 'secondwind-signature': sign(body, settings.secret) }),
        },
      },
      (response) => {
        // The body of the response is not needed and could be endless.
        response.destroy();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', (error) =>
      reject(tooLate.aborted ? new Error(`gave no answer within ${settings.timeoutMs} ms`) : error),
    );
    sent.end(body);
  });
}

/** The signature contains the time, so that a receiver can refuse a replayed request. */
const sign = (body: string, secret: string): string => {
  const seconds = Math.floor(Date.now() / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
};
