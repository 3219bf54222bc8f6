import type { Route } from '../route.ts';
import { aboutRoutes } from './about.ts';
import { artifact } from './artifacts.ts';
import { decodePayloads, encodePayloads } from './codec.ts';
import { decisions, judgeDecision } from './decisions.ts';
import { fingerprints, postFailure, reviseFailure } from './failures.ts';
import { detect, feedbackEffectiveness, feedbackLog, refine } from './feedback.ts';
import { guardAfter, guardBefore } from './guard.ts';
import { alive, ready } from './health.ts';
import { failureSamples, knownFailures } from './known-failures.ts';
import { previewReflections, reflection } from './lessons.ts';
import { metrics } from './metrics.ts';
import { monitors, switchEnhancement } from './monitors.ts';
import {
  guardrailsStatus,
  loopComplete,
  loopOverrides,
  loopPolicy,
  loopTrace,
  overrideGuardrails,
  setLoopPolicy,
} from './orchestrator.ts';
import { agents, bound, policy } from './policy.ts';
import { questions } from './questions.ts';
import { postReflection, reflections, reflectionSeen, reviseReflection } from './reflections.ts';
import { allEvents, runEvents } from './run-events.ts';
import { answerRun, cancelRun, feedbackRun, overrideRun, rerunRun } from './run-messages.ts';
import {
  runFailures,
  runGuidance,
  runOverrides,
  runPrompts,
  runRequest,
  runSteps,
  runTrace,
  runTranscript,
} from './run-views.ts';
import { listRuns, runStatus, startRun } from './runs.ts';
import { session } from './session.ts';

const WORK: Route[] = [
  startRun,
  listRuns,
  runStatus,
  runEvents,
  allEvents,
  runSteps,
  runRequest,
  runTranscript,
  runPrompts,
  runFailures,
  runTrace,
  runOverrides,
  runGuidance,
  overrideRun,
  answerRun,
  feedbackRun,
  cancelRun,
  rerunRun,
  questions,
  loopComplete,
  guardrailsStatus,
  overrideGuardrails,
  guardBefore,
  guardAfter,
  loopTrace,
  loopOverrides,
  loopPolicy,
  setLoopPolicy,
  postFailure,
  reviseFailure,
  fingerprints,
  knownFailures,
  failureSamples,
  artifact,
  detect,
  refine,
  feedbackLog,
  feedbackEffectiveness,
  postReflection,
  reflections,
  reflectionSeen,
  previewReflections,
  reflection,
  reviseReflection,
  bound,
  policy,
  agents,
  session,
  monitors,
  switchEnhancement,
  decisions,
  judgeDecision,
  encodePayloads,
  decodePayloads,
  alive,
  ready,
  metrics,
];

/** Every route of the API with the role that it needs. Nothing else is served. */
export const ROUTES: readonly Route[] = [...WORK, ...aboutRoutes(WORK)];
