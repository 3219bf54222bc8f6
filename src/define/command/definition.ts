import type { z } from 'zod';
import type { ToolDefinition } from '../define-tool.ts';
import type { Constraints } from '../../protocol/tools.ts';

/** The second argument of `argv` and `shell`: the attempt and its files. */
export interface CommandExtras {
  attempt: number;
  idempotencyKey: string;
  /** Grows with every attempt, so that a receiver can refuse an older one. Also in `SECONDWIND_FENCE`. */
  fence: number;
  constraints: Constraints;
  /** Path of a file with the guidance; the file is empty if there is none. Also in `SECONDWIND_GUIDANCE_FILE`. */
  guidanceFile: string;
  /** The prompt of this attempt, if the tool has one. */
  prompt: string;
  /** With `prompt.file`: path of a file with the prompt of this attempt. Also in `SECONDWIND_PROMPT_FILE`. */
  promptFile: string;
  /** The folder for a failure report. Also in `SECONDWIND_REPORT_DIR`. */
  reportDir: string;
}

/** The options that a command tool shares with every tool. */
export type SharedOption =
  | 'name'
  | 'description'
  | 'effect'
  | 'kind'
  | 'minConfidence'
  | 'input'
  | 'timeoutMs'
  | 'queryOf'
  | 'loopKey'
  | 'probe'
  | 'evaluates'
  | 'secrets'
  | 'approval'
  | 'reconcile';

export interface CommandOptions<Input, Output> extends Pick<ToolDefinition<Input, Output>, SharedOption> {
  /** The schema of the JSON that the command prints, or `json` for any JSON. Without it the output is `{exit_code, stdout, …}`. */
  output?: z.ZodType<Output> | 'json';
  cwd?: string | ((input: Input) => string);
  /** Environment variables: `allow` names those of the worker to pass on, `set` adds others. PATH, HOME and the like are always there. */
  env?: { allow?: string[]; set?: Record<string, string> | ((input: Input) => Record<string, string>) };
  stdin?: (input: Input, extras: CommandExtras) => string | Uint8Array;
  /** The most bytes that are kept of each stream, half from its start and half from its end. */
  maxOutputBytes?: number;
  /** True if the command uses the exit codes and failure reports of docs/exit-codes.md. */
  protocol?: boolean;
  /**
   * Exit codes from 0 to 125 that count as an answer and not as a failure, such as 1 of a test runner whose tests failed. The
   * output carries the code. Default: `[0]`.
   */
  accepts?: readonly number[];
  /**
   * Exit codes by which this command says that it did nothing; with `protocol` 1 to 4 say so too. After any other code, and
   * after a signal, a side effect counts as unknown.
   */
  refusals?: readonly number[];
  prompt?: { text: (input: Input) => string; file?: true; provider?: string };
  /** A folder for failure reports that others write to as well. Default: each attempt has its own. */
  reportDir?: string;
  /** How long to wait for a report after the command has ended. Default: 5 s for a shared folder, otherwise no wait. */
  reportGraceMs?: number;
  /** False to use a process group although the system has PID namespaces. */
  ownNamespace?: boolean;
}

/** The argument of `commandTool`. */
export type CommandToolDefinition<Input, Output> = CommandOptions<Input, Output> &
  (
    | {
        /** Returns the program and its arguments. No shell interprets them. */ argv: (
          input: Input,
          extras: CommandExtras,
        ) => string[];
        shell?: never;
      }
    | {
        /** Returns a line for `sh -c`. Quote what comes from the input. */ shell: (
          input: Input,
          extras: CommandExtras,
        ) => string;
        argv?: never;
      }
  );
