import { StackError } from '../stack-error.ts';
import { choosePort } from '../machine/ports.ts';
import type { ProcessGroup } from '../machine/process-group.ts';

const TRIES = 5;

/**
 * Starts a part on free ports. Another program may take a port between the check and the start. Then another port is
 * tried if we chose it; if the user named it, `choosePort` throws.
 */
export async function launchOnFreePorts<Ports>(
  choose: (attempt: number) => Promise<Ports>,
  launch: (ports: Ports) => Promise<ProcessGroup>,
): Promise<{ group: ProcessGroup; ports: Ports }> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await choose(attempt);
    try {
      return { group: await launch(ports), ports };
    } catch (error) {
      const again = error instanceof StackError && error.code === 'port_taken' && attempt < TRIES;
      if (!again) throw error;
    }
  }
}

/** The port of the last start is tried once; after that any port is used. */
export function portChooser(what: string, named: number | undefined, last: number | undefined) {
  return (attempt: number): Promise<number> => choosePort(what, named, attempt === 1 ? last : undefined);
}
