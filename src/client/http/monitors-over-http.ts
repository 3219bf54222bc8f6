import type { DecisionVerdict, ListedDecision, MonitorReport, Monitors } from '../monitor-views.ts';
import type { ApiConnection } from './api-connection.ts';

export const monitorsOverHttp = (api: ApiConnection): Monitors => ({
  read: async (query = {}, options = {}) =>
    (await api.ask<MonitorReport>('GET', '/v1/monitors', { ...options, query: { ...query } })).body,
  decisions: async (query = {}, options = {}) => {
    type Listed = { decisions: ListedDecision[]; next_cursor?: string };
    const { body } = await api.ask<Listed>('GET', '/v1/decisions', { ...options, query: { ...query } });
    return { decisions: body.decisions, next_cursor: body.next_cursor ?? null };
  },
  judge: async ({ run_id, decision_id }, verdict, options = {}) => {
    const path = `/v1/runs/${encodeURIComponent(run_id)}/decisions/${encodeURIComponent(decision_id)}/verdict`;
    return (await api.ask<DecisionVerdict>('POST', path, { ...options, body: verdict })).body;
  },
});
