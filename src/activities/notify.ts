import { log as activityLog } from '@temporalio/activity';
import type { Redact } from '../core/redaction/redact.ts';
import { previewQuestion } from '../core/redaction/preview-question.ts';
import { redactShown } from '../core/redaction/shown.ts';
import type { QuestionNotice } from '../protocol/notices.ts';
import { sendWebhook, type WebhookSettings } from './webhooks/send-webhook.ts';
import type { WarnLog } from './write-parts.ts';

/** Four tries of five seconds plus the waits between them stay well within the activity's timeout. */
const TRY_MS = 5_000;
const WAITS_MS = [500, 1_000, 2_000];

export interface NotifySettings {
  /** Takes secrets out of what webhooks are sent. */
  redact?: Redact;
  env: NodeJS.ProcessEnv;
  log?: WarnLog;
  timeoutMs?: number;
  waitsMs?: readonly number[];
}

/**
 * How many webhooks accepted a notice. It does not contain their URLs, because a URL's path can be a secret (chat
 * services do this).
 */
export interface NoticeDelivery {
  delivered: number;
  failed: number;
}

/**
 * Creates `notify`, which tells webhooks that a question is open. It never fails, because the question stays open
 * whether or not a notice was delivered.
 */
export function createNotifyActivities({
  env,
  redact = (text) => text,
  log = activityLog,
  timeoutMs,
  waitsMs,
}: NotifySettings) {
  const secret = env['SECONDWIND_WEBHOOK_SECRET'] || undefined;
  const settings: WebhookSettings = {
    secret,
    allowPrivate: env['SECONDWIND_WEBHOOK_ALLOW_PRIVATE'] === '1',
    timeoutMs: timeoutMs ?? TRY_MS,
    waitsMs: waitsMs ?? WAITS_MS,
  };
  let warnedUnsigned = secret !== undefined;
  return {
    notify: async (notice: QuestionNotice): Promise<NoticeDelivery> => {
      if (!warnedUnsigned && notice.urls.length > 0) {
        warnedUnsigned = true;
        log.warn('webhook_unsigned', { reason: 'set SECONDWIND_WEBHOOK_SECRET to have webhooks signed' });
      }
      const deliveryId = `${notice.question.question_id}:${notice.escalation}`;
      const shown = redactShown({ ...notice, question: previewQuestion(notice.question, redact) }, redact);
      const body = JSON.stringify(buildBody(shown, deliveryId, env['SECONDWIND_PUBLIC_URL']));
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

/** Builds the body that a webhook receives. */
function buildBody({ urls: _urls, ...notice }: QuestionNotice, deliveryId: string, publicUrl: string | undefined) {
  return {
    type: notice.escalation === 0 ? 'question_asked' : 'question_escalated',
    delivery_id: deliveryId,
    ...notice,
    answer_url: answerUrl(publicUrl, notice.run_id),
    page_url: pageUrl(publicUrl, notice.question.question_id),
  };
}

/**
 * The URL to which `{question_id, decision, by}` can be posted as an answer, or null if no public URL of the API is
 * configured.
 */
function answerUrl(publicUrl: string | undefined, runId: string): string | null {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return null;
  return new URL(`v1/runs/${encodeURIComponent(runId)}/answer`, `${publicUrl.replace(/\/+$/, '')}/`).href;
}

/** The page of the dashboard on which a person can answer, or null if no public URL of the API is configured. */
function pageUrl(publicUrl: string | undefined, questionId: string): string | null {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return null;
  return new URL(`ui/inbox?question=${encodeURIComponent(questionId)}`, `${publicUrl.replace(/\/+$/, '')}/`).href;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'no address');
