import type { z } from 'zod';
import type { ToolDefinition } from '../define-tool.ts';
import type { Constraints } from '../../protocol/tools.ts';

/** What a command is started with, beside its input. */
export interface CommandExtras {
  attempt: number;
  idempotencyKey: string;
  constraints: Constraints;
  /** What earlier failures taught; empty when there is nothing. Also in `SECONDWIND_GUIDANCE_FILE`. */
  guidanceFile: string;
  /** The prompt of this attempt, where the tool has one. */
  prompt: string;
  /** With `prompt.file`: a new file for each attempt. Also in `SECONDWIND_PROMPT_FILE`. */
  promptFile: string;
  /** Where a failure report belongs. Also in `SECONDWIND_REPORT_DIR`. */
  reportDir: string;
}

/** What a command tool has in common with every tool. */
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
  /** Without it the answer is `{exit_code, stdout, stderr, …}`; with it what the command prints is JSON. */
  output?: z.ZodType<Output> | 'json';
  cwd?: string | ((input: Input) => string);
  /** What the command sees of the worker's environment: a few harmless names, and what is allowed or set here. */
  env?: { allow?: string[]; set?: Record<string, string> | ((input: Input) => Record<string, string>) };
  stdin?: (input: Input, extras: CommandExtras) => string | Uint8Array;
  /** Of each stream so much is kept, half from its start and half from its end. */
  maxOutputBytes?: number;
  /** The command speaks the exit codes and failure reports of docs/exit-codes.md. */
  protocol?: boolean;
  prompt?: { text: (input: Input) => string; file?: true; provider?: string };
  /** A folder that others write reports to as well; by default each attempt has its own. */
  reportDir?: string;
  /** How long after its end a report may still come; only a shared folder is waited for, 5 s. */
  reportGraceMs?: number;
  /** False: a process group only, also where the system has PID namespaces. */
  ownNamespace?: boolean;
}

export type CommandToolDefinition<Input, Output> = CommandOptions<Input, Output> &
  (
    | {
        /** Program and arguments; no shell reads them. */ argv: (input: Input, extras: CommandExtras) => string[];
        shell?: never;
      }
    | {
        /** A line for `sh -c`. Quoting what comes from the input is yours. */ shell: (
          input: Input,
          extras: CommandExtras,
        ) => string;
        argv?: never;
      }
  );
