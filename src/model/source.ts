import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import { readModelSettings } from './settings.ts';
import { ENVIRONMENT, OWN, type SettingNames } from './setup-hint.ts';

/** The model that somebody names, or what is missing to reach it. A mere name is one at the endpoint of the environment. */
export function sourceOf(
  model: ModelSource | string | undefined,
  environment: Record<string, string | undefined>,
): ModelSource | string {
  if (model !== undefined && typeof model !== 'string') return model;
  const settings = readModelSettings(model === undefined ? environment : { ...environment, MODEL: model });
  return settings.ok ? settings.endpoint : settings.problem;
}

/** How the settings of that model are called. */
export const settingsOf = (model: ModelSource | string | undefined): SettingNames =>
  model !== undefined && typeof model !== 'string' ? OWN : ENVIRONMENT;

export const nameOf = (source: ModelSource): string => (isEndpoint(source) ? source.model : source.modelId);
