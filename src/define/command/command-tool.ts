import { z } from 'zod';
import {
  DEFAULT_MAX_OUTPUT_BYTES,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '../define-tool.ts';
import { stateCertainty, ToolError } from '../tool-error.ts';
import type { Json } from '../../protocol/json.ts';
import type { Certainty } from '../../protocol/tools.ts';
import { type AttemptFolder, openAttemptFolder } from './attempt-folder.ts';
import { readCommandOutput, type CommandOutput, commandOutputSchema } from './command-output.ts';
import type { CommandExtras, CommandOptions, CommandToolDefinition, SharedOption } from './definition.ts';
import { buildEnvironment } from './command-environment.ts';
import { isolation, type Isolation } from './process-isolation.ts';
import { type ProcessRequest, runProcess } from './run-process.ts';
import { throwIfFailed } from './verdict.ts';

const DEFAULT_STREAM_BYTES = 1024 * 1024;
/** A control character takes six bytes in JSON. */
const JSON_GROWTH = 6;

/**
 * Defines a tool that runs a program. `argv` starts it without a shell; `shell` runs a line with `sh -c`. Time and output are
 * limited, and when an attempt ends, every process that it started ends too.
 *
 * Returns the tool. Throws a `TypeError` if it has both `argv` and `shell` or neither, if `accepts` cannot be used, or like
 * `defineTool`.
 *
 * @example
 * ```ts
 * const runTests = commandTool({
 *   name: 'run_tests',
 *   effect: 'idempotent',
 *   input: z.object({ file: z.string() }),
 *   argv: ({ file }) => ['npx', 'vitest', 'run', file],
 * });
 * ```
 */
export function commandTool<Input>(
  definition: CommandToolDefinition<Input, Json> & { output: 'json' },
): Tool<Input, Json>;
export function commandTool<Input, Output = CommandOutput>(
  definition: CommandToolDefinition<Input, Output>,
): Tool<Input, Output>;
export function commandTool<Input, Output>(definition: CommandToolDefinition<Input, Output>): Tool<Input, Output> {
  const { maxOutputBytes = DEFAULT_STREAM_BYTES, protocol = false } = definition;
  if ((definition.argv === undefined) === (definition.shell === undefined)) {
    throw new TypeError(`The command tool ${definition.name} needs either argv or shell.`);
  }
  const problem = findExitCodeProblem(definition);
  if (problem !== null) throw new TypeError(`The command tool ${definition.name}: ${problem}`);
  return defineTool<Input, Output>({
    ...shared(definition),
    output: outputSchema(definition.output),
    evaluates: definition.evaluates ?? protocol,
    detect: true,
    maxOutputBytes: Math.max(DEFAULT_MAX_OUTPUT_BYTES, 2 * JSON_GROWTH * maxOutputBytes + 1_000),
    run: async (input, context) => {
      try {
        const folder = await openAttemptFolder();
        try {
          return (await runCommand(definition, input, context, folder)) as Output;
        } finally {
          await folder.remove();
        }
      } catch (error) {
        // Each failure on the way says by itself whether the command ran; without a word of it nothing is known.
        throw stateCertainty(error, (error as { certainty?: Certainty } | null)?.certainty, definition.name);
      }
    },
  });
}

/** Codes above 125 mean that a shell could not start the command, or that a signal ended it. */
const HIGHEST_OWN_CODE = 125;

function findExitCodeProblem(
  how: Pick<CommandOptions<unknown, unknown>, 'accepts' | 'refusals' | 'protocol'>,
): string | null {
  const { accepts, refusals = [], protocol = false } = how;
  if (accepts === undefined) return null;
  const listed = `accepts [${accepts.join(', ')}]`;
  const wrong = accepts.find((code) => !Number.isInteger(code) || code < 0 || code > HIGHEST_OWN_CODE);
  if (wrong !== undefined) return `${listed} has ${wrong}; an exit code is an integer from 0 to ${HIGHEST_OWN_CODE}.`;
  if (!accepts.includes(0)) return `${listed} has to contain 0, because 0 always counts as an answer.`;
  const both = accepts.find((code) => refusals.includes(code));
  if (both !== undefined) return `${both} is in accepts and in refusals; it can mean only one of them.`;
  if (protocol && accepts.length > 1) return `${listed} cannot be used with protocol, which says what the codes mean.`;
  return null;
}

async function runCommand<Input, Output>(
  definition: CommandToolDefinition<Input, Output>,
  input: Input,
  context: ToolContext,
  folder: AttemptFolder,
): Promise<unknown> {
  const { protocol = false, maxOutputBytes = DEFAULT_STREAM_BYTES } = definition;
  const { request, reportDir } = await requestFor(definition, input, context, folder).catch((error: unknown) => {
    throw Object.assign(error instanceof Error ? error : new Error(String(error)), { certainty: 'not_started' });
  });
  const end = await runProcess(request);
  await throwIfFailed(end, context, {
    effect: definition.effect,
    protocol,
    command: { argv: request.argv, stdin: textOfStdin(request.stdin) },
    accepts: definition.accepts ?? [0],
    refusals: definition.refusals ?? [],
    reportDir,
    reportGraceMs: definition.reportGraceMs ?? (definition.reportDir === undefined ? 0 : undefined),
  });
  return readCommandOutput(end, context, {
    json: definition.output !== undefined,
    effect: definition.effect,
    maxOutputBytes,
  });
}

const textOfStdin = (stdin: ProcessRequest['stdin']): string | null =>
  stdin === undefined ? null : typeof stdin === 'string' ? stdin : Buffer.from(stdin).toString('base64');

/** Everything that comes before the start of the process: what fails here has done nothing. */
async function requestFor<Input, Output>(
  definition: CommandToolDefinition<Input, Output>,
  input: Input,
  context: ToolContext,
  folder: AttemptFolder,
): Promise<{ request: ProcessRequest; reportDir: string }> {
  const extras = await prepareExtras(definition, input, context, folder);
  const request = {
    argv: buildArgv(definition, input, extras),
    cwd: typeof definition.cwd === 'function' ? definition.cwd(input) : (definition.cwd ?? process.cwd()),
    env: buildEnvironment(definition.env, input, extras),
    stdin: definition.stdin?.(input, extras),
    maxOutputBytes: definition.maxOutputBytes ?? DEFAULT_STREAM_BYTES,
    isolation: await allowedIsolation(definition.ownNamespace !== false, context),
    signal: context.signal,
    beforeStart: () => context.throwIfExpired(),
  };
  return { request, reportDir: extras.reportDir };
}

async function prepareExtras<Input, Output>(
  definition: CommandToolDefinition<Input, Output>,
  input: Input,
  context: ToolContext,
  folder: AttemptFolder,
): Promise<CommandExtras> {
  const { attempt, idempotencyKey, fence, constraints } = context;
  const asked = definition.prompt;
  const provider = asked?.provider === undefined ? {} : { provider: asked.provider };
  const prompt = asked === undefined ? '' : await context.enhance(asked.text(input), provider);
  return {
    attempt,
    idempotencyKey,
    fence,
    constraints,
    guidanceFile: await folder.write('guidance.txt', context.guidance.text),
    prompt,
    promptFile: asked?.file === true ? await folder.write(`prompt-attempt-${attempt}.txt`, prompt) : '',
    reportDir: definition.reportDir ?? folder.reportDir,
  };
}

function buildArgv<Input, Output>(
  definition: CommandToolDefinition<Input, Output>,
  input: Input,
  extras: CommandExtras,
): string[] {
  const argv =
    definition.shell === undefined
      ? definition.argv(input, extras)
      : ['/bin/sh', '-c', definition.shell(input, extras)];
  const bad =
    argv.length === 0 || argv[0] === '' || argv.some((part) => typeof part !== 'string' || part.includes('\0'));
  if (bad) {
    const how = { category: 'invalid_input', code: 'BAD_ARGUMENTS', certainty: 'not_started' } as const;
    throw new ToolError('argv must return the program and its arguments as strings without NUL characters', how);
  }
  return argv;
}

let toldOfGroups = false;

/** Logs once if this system has no PID namespaces, because there a detached process can outlive its attempt. */
async function allowedIsolation(wanted: boolean, context: ToolContext): Promise<Isolation> {
  const found: Isolation = wanted ? await isolation() : { kind: 'process_group' };
  if (wanted && found.kind === 'process_group' && !toldOfGroups) {
    toldOfGroups = true;
    context.log('no_pid_namespace', {
      effect: 'a command that leaves its process group is not ended with its attempt',
    });
  }
  return found;
}

const outputSchema = <Output>(output: z.ZodType<Output> | 'json' | undefined): z.ZodType<Output> => {
  // Without a schema, Output defaults to CommandOutput, which TypeScript cannot know here.
  if (output === undefined) return commandOutputSchema as unknown as z.ZodType<Output>;
  return output === 'json' ? (z.json() as unknown as z.ZodType<Output>) : output;
};

function shared<Input, Output>(
  definition: CommandOptions<Input, Output>,
): Pick<ToolDefinition<Input, Output>, SharedOption> {
  const {
    output: _output,
    cwd: _cwd,
    env: _env,
    stdin: _stdin,
    protocol: _protocol,
    refusals: _refusals,
    accepts: _accepts,
    prompt: _prompt,
    ...rest
  } = definition;
  const { reportDir: _dir, reportGraceMs: _grace, ownNamespace: _own, maxOutputBytes: _max, ...tool } = rest;
  return tool;
}
