import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import { remoteCommand } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';
import type { Column } from '../show/table.ts';

type Reflections = z.infer<(typeof SCHEMAS)['Reflections']>;
interface ReflectionsFlags extends RemoteFlags {
  signature?: string;
  similarTo?: string;
  errorType?: string;
  agent?: string;
  limit?: string;
}

const LESSONS: Column<Reflections['reflections'][number]>[] = [
  { head: 'ID', cell: (lesson) => String(lesson.id), right: true },
  { head: 'AGENT', cell: (lesson) => lesson.agent ?? '(all)' },
  { head: 'SEEN', cell: (lesson) => String(lesson.occurrence_count), right: true },
  { head: 'WHY', cell: (lesson) => lesson.reason },
  { head: 'SIGNATURE', cell: (lesson) => lesson.context.error_signature },
  { head: 'LESSON', cell: (lesson) => lesson.content, flexible: true },
];

export function addReflections(program: Command): void {
  remoteCommand(program, 'reflections', 'list lessons: the latest, those with a signature, or those similar to a text')
    .option('--signature <signature>', 'only lessons with this error signature')
    .option('--similar-to <text>', 'only lessons with a similar text')
    .option('--error-type <type>', 'only lessons of this error type')
    .option('--agent <name>', 'only lessons of this agent and those for all agents')
    .option('--limit <n>', 'the most lessons to list')
    .action(async (flags: ReflectionsFlags) => {
      const [{ connectRemote }, { print }, { table, terminalWidth }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
        import('../show/table.ts'),
      ]);
      const { api } = await connectRemote(flags);
      const { signature, similarTo, errorType, agent, limit } = flags;
      const query = { signature, similar_to: similarTo, error_type: errorType, agent, limit };
      const { body } = await api.ask<Reflections>('GET', '/v1/reflections', { query });
      print(flags, body, () =>
        body.reflections.length === 0 ? ['No lessons.'] : table(LESSONS, body.reflections, terminalWidth()),
      );
    });
}
