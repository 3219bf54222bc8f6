/** Runs the tests of a project and corrects it until they pass. `PROJECT_DIR` names the project. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { commandTool, defineAgent, defineTool } from 'secondwind';

const project = process.env['PROJECT_DIR'] ?? '.';

const runTests = commandTool({
  name: 'run_tests',
  description: 'runs the tests and gives their report',
  effect: 'read',
  input: z.object({}),
  cwd: project,
  argv: () => ['node', '--test'],
  // Failed tests are an answer for the agent and not a failure of the tool.
  accepts: [0, 1],
  timeoutMs: 120_000,
});

const writeSource = defineTool({
  name: 'write_source',
  description: 'replaces a source file of the project',
  effect: 'idempotent',
  input: z.object({ file: z.string().regex(/^[\w-]+\.mjs$/), text: z.string().max(10_000) }),
  output: z.object({ bytes: z.int() }),
  run: async ({ file, text }) => {
    await writeFile(join(project, file), text);
    return { bytes: Buffer.byteLength(text) };
  },
});

export default defineAgent({
  name: 'test-fixer',
  instructions: 'You mend a project. Run its tests, correct the sources, and run them again until all of them pass.',
  tools: [runTests, writeSource],
  output: z.object({ passed: z.boolean(), changed: z.array(z.string()) }),
  policy: { budget: { max_steps: 20, max_model_calls: 20 } },
});
