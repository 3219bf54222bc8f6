export { scriptedModel, type ScriptedModel } from './language-model.ts';
export type { Exchange, ScriptedCounts } from './player.ts';
export type {
  Reply,
  Script,
  ScriptedCall,
  ScriptedRequest,
  ScriptedTool,
  ScriptedTurn,
  ScriptedUsage,
} from './script.ts';
export { serveScriptedModel, type ScriptedServer, type ScriptedServerOptions } from './server.ts';
