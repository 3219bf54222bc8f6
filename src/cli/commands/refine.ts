import type { Command } from 'commander';

interface RefineFlags {
  prompt?: string;
  promptFile?: string;
  feedback?: string;
  feedbackFile?: string;
  maxIterations?: string;
  json?: boolean;
}

const MOST_ITERATIONS = 20;

export function addRefine(program: Command): void {
  program
    .command('refine')
    .description('refine a prompt with feedback')
    .option('--prompt <text>', 'the prompt')
    .option('--prompt-file <file>', 'a file with the prompt; - is stdin')
    .option('--feedback <text>', 'the feedback about its outcome')
    .option('--feedback-file <file>', 'a file with the feedback; - is stdin')
    .option('--max-iterations <n>', `the most iterations, 0 to ${MOST_ITERATIONS}`)
    .option('--json', 'print JSON, with every iteration')
    .action(async (flags: RefineFlags) => {
      const [{ refinePrompt }, { readText, readWhole }, { print }, { safeLines }] = await Promise.all([
        import('../../core/feedback/refine.ts'),
        import('../read-input.ts'),
        import('../show/print.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const prompt = await readText(flags.prompt, flags.promptFile, '--prompt or --prompt-file');
      const feedback = await readText(flags.feedback, flags.feedbackFile, '--feedback or --feedback-file');
      const refinement = refinePrompt(prompt, feedback, {
        timestamp: new Date().toISOString(),
        ...(flags.maxIterations !== undefined && {
          max_refinement_iterations: readWhole('--max-iterations', flags.maxIterations, 0, MOST_ITERATIONS),
        }),
      });
      const { refined_prompt: refined } = refinement;
      print(flags, refinement, () => [process.stdout.isTTY ? safeLines(refined) : refined]);
    });
}
