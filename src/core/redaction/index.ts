export { createRedactor, redactJson, secretsOf, type Redact } from './redact.ts';
