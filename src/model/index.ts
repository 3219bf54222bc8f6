/** Asking models: one call, one typed outcome. Knows neither Temporal nor a database. */
export { askModel } from './ask-model.ts';
export type { ModelRequest, ModelSource } from './request.ts';
export { readModelSettings } from './settings.ts';
