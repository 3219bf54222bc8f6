import { log as activityLog } from '@temporalio/activity';
import type { QuestionNotice } from '../protocol/notices.ts';
import { sendWebhook, type WebhookSettings } from './webhooks/send-webhook.ts';
import type { WarnLog } from './write-parts.ts';

/** Four tries of five seconds and the waits between them: well within what the activity is given. */
const TRY_MS = 5_000;
const WAITS_MS = [500, 1_000, 2_000];

export interface NotifySettings {
  env: NodeJS.ProcessEnv;
  log?: WarnLog;
  timeoutMs?: number;
  waitsMs?: readonly number[];
}

/** How many webhooks took a notice. Never their addresses: a path may be a secret, as chat services have it. */
export interface NoticeDelivery {
  delivered: number;
  failed: number;
}

/** `notify`: tells webhooks that a question is open. It never fails: a question waits whether anybody was told or not. */
export function createNotifyActivities({ env, log = activityLog, timeoutMs, waitsMs }: NotifySettings) {
  const secret = env['SECONDWIND_WEBHOOK_SECRET'] || undefined;
  const settings: WebhookSettings = {
    secret,
    allowPrivate: env['SECONDWIND_WEBHOOK_ALLOW_PRIVATE'] === '1',
    timeoutMs: timeoutMs ?? TRY_MS,
    waitsMs: waitsMs ?? WAITS_MS,
  };
  let saidUnsigned = secret !== undefined;
  return {
    notify: async (notice: QuestionNotice): Promise<NoticeDelivery> => {
      if (!saidUnsigned && notice.urls.length > 0) {
        saidUnsigned = true;
        log.warn('webhook_unsigned', { reason: 'set SECONDWIND_WEBHOOK_SECRET to have webhooks signed' });
      }
      const deliveryId = `${notice.question.question_id}:${notice.escalation}`;
      const body = JSON.stringify(bodyOf(notice, deliveryId, env['SECONDWIND_PUBLIC_URL']));
      const outcomes = await Promise.all(
        notice.urls.map(async (url) => {
          const outcome = await sendWebhook({ url, deliveryId, body }, settings);
          if (outcome.ok) return outcome;
          const { reason, tries } = outcome;
          log.warn('webhook_failed', {
            run_id: notice.run_id,
            delivery_id: deliveryId,
            host: hostOf(url),
            tries,
            reason,
          });
          return outcome;
        }),
      );
      const delivered = outcomes.filter((outcome) => outcome.ok).length;
      return { delivered, failed: outcomes.length - delivered };
    },
  };
}

/** What a webhook gets to read. */
function bodyOf({ urls: _urls, ...notice }: QuestionNotice, deliveryId: string, publicUrl: string | undefined) {
  return {
    type: notice.escalation === 0 ? 'question_asked' : 'question_escalated',
    delivery_id: deliveryId,
    ...notice,
    answer_url: answerUrl(publicUrl, notice.run_id),
  };
}

/** Where a POST of `{question_id, decision, by}` answers; null as long as nobody has said where the API is to be found. */
function answerUrl(publicUrl: string | undefined, runId: string): string | null {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return null;
  return new URL(`v1/runs/${encodeURIComponent(runId)}/answer`, `${publicUrl.replace(/\/+$/, '')}/`).href;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'no address');
