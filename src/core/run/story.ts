import type { OutboxWriter } from './write-outbox.ts';
import type { RunPorts } from './ports.ts';
import type { RunState } from './state.ts';

/** One run being lived: what it knows, how it reaches the outside, and what writes to the store for it. */
export interface Story {
  state: RunState;
  ports: RunPorts;
  outbox: OutboxWriter;
}
