import type { Command } from 'commander';
import type { z } from 'zod';
import type { SCHEMAS } from '../../api/schemas/all-schemas.ts';
import { readPerson, remoteCommand, withPerson } from '../ask/command.ts';
import type { RemoteFlags } from '../ask/connect-remote.ts';

type Revised = z.infer<(typeof SCHEMAS)['FailureRevised']>;
interface SupersedeFlags extends RemoteFlags {
  by?: string;
  reason: string;
}

export function addSupersede(program: Command): void {
  withPerson(remoteCommand(program, 'supersede <failure_id>', 'say that a failure no longer applies'))
    .requiredOption('--reason <text>', 'the reason to record')
    .action(async (failureId: string, flags: SupersedeFlags) => {
      const [{ connectRemote }, { print }] = await Promise.all([
        import('../ask/connect-remote.ts'),
        import('../show/print.ts'),
      ]);
      const { api } = await connectRemote(flags);
      const path = `/v1/failures/${encodeURIComponent(failureId)}/revisions`;
      const request = { status: 'superseded', by: readPerson(flags), reason: flags.reason };
      const { body } = await api.ask<Revised>('POST', path, { body: request });
      print(flags, body, () => [`${body.fingerprint} is ${body.status}. Its run is no longer guided by it.`]);
    });
}
