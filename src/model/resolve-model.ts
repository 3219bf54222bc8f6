import { isEndpoint, type ModelSource } from '../define/model-source.ts';
import { readModelSettings } from './model-settings.ts';
import { ENVIRONMENT, OWN, type SettingNames } from './setup-hint.ts';

/** Resolves the model of an agent, or says what is missing. A plain name is a model at the endpoint of the environment. */
export function resolveModel(
  model: ModelSource | string | undefined,
  environment: Record<string, string | undefined>,
): ModelSource | string {
  if (model !== undefined && typeof model !== 'string') return model;
  const settings = readModelSettings(model === undefined ? environment : { ...environment, MODEL: model });
  return settings.ok ? settings.endpoint : settings.problem;
}

/** The names of that model's settings, for error messages. */
export const settingNames = (model: ModelSource | string | undefined): SettingNames =>
  model !== undefined && typeof model !== 'string' ? OWN : ENVIRONMENT;

export const nameOf = (source: ModelSource): string => (isEndpoint(source) ? source.model : source.modelId);
