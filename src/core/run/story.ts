import type { OutboxWriter } from './write-outbox.ts';
import type { RunPorts } from './ports.ts';
import type { RunState } from './state.ts';

/** The context of a running run: its state, its ports to the outside, and the writer of its outbox. */
export interface Story {
  state: RunState;
  ports: RunPorts;
  outbox: OutboxWriter;
}
