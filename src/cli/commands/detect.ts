import type { Command } from 'commander';

interface DetectFlags {
  file?: string;
  json?: boolean;
}

export function addDetect(program: Command): void {
  program
    .command('detect [text]')
    .description('detect what kind of failure a text reports; without a text, reads stdin')
    .option('--file <file>', 'read the text from a file')
    .option('--json', 'print JSON')
    .action(async (text: string | undefined, flags: DetectFlags) => {
      const [{ detectFeedback }, { selectActions }, { readText }, { print }, { oneLine }] = await Promise.all([
        import('../../core/feedback/detect.ts'),
        import('../../core/feedback/actions.ts'),
        import('../read-input.ts'),
        import('../show/print.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const detection = detectFeedback(await readText(text, flags.file ?? '-'));
      const { feedback_type, confidence, matches } = detection;
      const actions = selectActions(detection);
      print(flags, { feedback_type, confidence, matches, actions }, () =>
        feedback_type === null
          ? ['Nothing was detected.']
          : [
              `${feedback_type} (${confidence})`,
              ...matches.map((match) => `  ${match.pattern}: ${oneLine(match.text)}`),
              ...actions.map((action) => `  → ${action.type}: ${oneLine(action.text)}`),
            ],
      );
    });
}
