import { Command } from 'commander';
import { addAnswer } from './commands/answer.ts';
import { addApi } from './commands/api.ts';
import { addBound } from './commands/bound.ts';
import { addCancel } from './commands/cancel.ts';
import { addDemo } from './commands/demo.ts';
import { addDetect } from './commands/detect.ts';
import { addDev } from './commands/dev.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExport } from './commands/export.ts';
import { addFailures } from './commands/failures.ts';
import { addFeedback } from './commands/feedback.ts';
import { addGuidance } from './commands/guidance.ts';
import { addHook } from './commands/hook.ts';
import { addInspect } from './commands/inspect.ts';
import { addLessons } from './commands/lessons.ts';
import { addMcp } from './commands/mcp.ts';
import { addMigrate } from './commands/migrate.ts';
import { addMonitors } from './commands/monitors.ts';
import { addOverride } from './commands/override.ts';
import { addSupersede } from './commands/supersede.ts';
import { addPolicy } from './commands/policy.ts';
import { addProxy } from './commands/proxy.ts';
import { addQuestions } from './commands/questions.ts';
import { addRefine } from './commands/refine.ts';
import { addRefinements } from './commands/refinements.ts';
import { addReflections } from './commands/reflections.ts';
import { addRerun, addRun } from './commands/run.ts';
import { addRuns } from './commands/runs.ts';
import { addSimulate } from './commands/simulate.ts';
import { addStatus } from './commands/status.ts';
import { addSteps } from './commands/steps.ts';
import { addTranscript } from './commands/transcript.ts';
import { addWatch } from './commands/watch.ts';
import { addWorker } from './commands/worker.ts';
import { ownVersion } from './version.ts';

/** The commands in the groups that `--help` shows. */
const GROUPS: [heading: string, commands: ((program: Command) => void)[]][] = [
  [
    'Look:',
    [
      addInspect,
      addRuns,
      addStatus,
      addSteps,
      addTranscript,
      addWatch,
      addFailures,
      addGuidance,
      addLessons,
      addReflections,
      addRefinements,
      addQuestions,
    ],
  ],
  ['Run:', [addRun, addRerun, addAnswer, addFeedback, addOverride, addSupersede, addCancel]],
  ['Decide:', [addPolicy, addBound, addSimulate, addDetect, addRefine]],
  [
    'Operate:',
    [addDev, addDemo, addWorker, addApi, addDoctor, addMigrate, addExport, addMonitors, addMcp, addHook, addProxy],
  ],
];

/** Creates the command line. Each command imports what it needs when it runs, so that `--help` is fast. */
export function createProgram(): Command {
  const program = new Command('secondwind')
    .description('Durable agent runs that learn from their failures and know when to stop.')
    .version(ownVersion())
    .showSuggestionAfterError()
    .exitOverride()
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 failed, 2 bad usage, 3 not reachable, 10 stopped by a guard, 11 budget, 12 waiting for a person.',
    );
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const add of commands) add(program);
  }
  return program;
}
