import type { Command } from 'commander';
import { colours } from '../show/colours.ts';
import { describeConfig, readConfig } from '../config/read-config.ts';
import type { Finding } from '../doctor/finding.ts';
import { EXIT } from '../report-error.ts';

const MARK = { ok: colours.green('ok    '), note: colours.yellow('note  '), failed: colours.red('FAILED') };

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check Node, Temporal, store, ports, token, encryption, model and telemetry, and show what to do about each',
    )
    .option('--data-dir <folder>', 'the data folder to check (default: SECONDWIND_DATA_DIR)')
    .option('--json', 'print JSON')
    .action(async (flags: { dataDir?: string; json?: boolean }) => {
      const config = readConfig(process.env, flags);
      const [checks, { print }, { oneLine }] = await Promise.all([
        import('../doctor/checks.ts'),
        import('../show/print.ts'),
        import('../show/terminal-text.ts'),
      ]);
      const findings = [
        checks.checkNode(),
        ...(await Promise.all([
          checks.checkDataFolder(config),
          checks.checkTemporal(config, process.env),
          checks.checkStore(config),
          checks.checkApi(config, process.env),
          checks.checkToken(config),
          checks.checkEncryption(config),
          checks.checkModel(process.env),
          checks.checkTelemetry(process.env),
        ])),
      ];
      print(flags, { ok: !findings.some(isBad), checks: findings, settings: describeConfig(config) }, () =>
        findings.flatMap(({ check, state, found, next_step: next }) => [
          `${MARK[state]}  ${check.padEnd(11)}  ${oneLine(found)}`,
          ...(next === null ? [] : [`${' '.repeat(21)}→ ${oneLine(next)}`]),
        ]),
      );
      process.exitCode = exitCodeFor(findings.filter(isBad));
    });
}

const isBad = ({ state }: Finding): boolean => state === 'failed';

function exitCodeFor(bad: readonly Finding[]): number {
  if (bad.length === 0) return EXIT.ok;
  return bad.every(({ unreachable }) => unreachable) ? EXIT.notReachable : EXIT.failed;
}
