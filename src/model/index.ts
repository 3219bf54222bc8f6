/** Asking models: one call, one typed outcome. Knows neither Temporal nor a database. */
export { askModel, type AskOptions } from './ask-model.ts';
export type { ModelEndpoint, ModelObject, ModelRequest, ModelSource, ToolDeclaration } from './request.ts';
export { readModelSettings, type ModelSettings } from './settings.ts';
