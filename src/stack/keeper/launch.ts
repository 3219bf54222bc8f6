import { StackError } from '../stack-error.ts';
import { choosePort } from '../machine/ports.ts';
import type { ProcessGroup } from '../machine/process-group.ts';

const TRIES = 5;

/**
 * Somebody may take a port between our looking and the part's listening. When that port was ours to choose, another one is
 * tried; when the user named it, `choosePort` says so.
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

/** The port of last time is tried once; when that fails, it is not insisted on. */
export function portChooser(what: string, named: number | undefined, last: number | undefined) {
  return (attempt: number): Promise<number> => choosePort(what, named, attempt === 1 ? last : undefined);
}
