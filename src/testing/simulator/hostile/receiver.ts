import type { ToolCallRequest } from '../../../protocol/tools.ts';

/**
 * Whoever receives the side effects of the hostile runs. It counts every effect that happens and recognizes no repetition by
 * itself, so an effect that a run repeats is seen.
 */
export interface Receiver {
  /** Side effects that happened. */
  effects: number;
  /** Effects that happened again although nobody had said that the first was not done. */
  effects_twice: number;
  /** A request arrives and takes effect. */
  apply(request: ToolCallRequest): void;
  /** The attempt ended without a word on whether it took effect. */
  leaveOpen(request: ToolCallRequest): void;
  /** The worker froze: the attempt acts when it wakes up, unless the receiver has seen a newer fence by then. */
  freeze(request: ToolCallRequest): void;
  /** Asked about an attempt: has it taken effect? From now on nothing older than the question may act. */
  hasHappened(request: ToolCallRequest): boolean;
  /** A person settled the effect under this key. */
  settle(key: string, decision: 'done' | 'not_done'): void;
  /** A sub-run starts and knows of the open effects under these keys. */
  startSubRun(runId: string, openKeys: readonly string[]): void;
  /** A sub-run has ended, so its parent knows what it knew. */
  endSubRun(runId: string, parentRunId: string): void;
  /** Every attempt that is still frozen wakes up. */
  wakeAll(): void;
}

interface Order {
  call: string;
  effects: number;
  /** An effect happened, and the run does not know it. */
  isOpen: boolean;
  /** How often a person said that it was not done. */
  notDone: number;
  highestFence: number;
  frozen: ToolCallRequest[];
  /** The runs that know that this effect may have happened. */
  knownTo: Set<string>;
}

/** Half of the frozen attempts act before the next request about their order arrives, half of them after it. */
const wakesFirst = ({ fence }: ToolCallRequest): boolean => fence % 2 === 0;

export function openReceiver(checksFence = true): Receiver {
  const orders = new Map<string, Order>();
  const orderOf = ({ tool, input, idempotency_key, run_id }: ToolCallRequest): Order => {
    const known = orders.get(idempotency_key);
    if (known !== undefined) return known;
    const call = `${tool} ${JSON.stringify(input)}`;
    const order = {
      call,
      effects: 0,
      isOpen: false,
      notDone: 0,
      highestFence: 0,
      frozen: [],
      knownTo: new Set([run_id]),
    };
    orders.set(idempotency_key, order);
    return order;
  };
  const isRefused = (order: Order, fence: number): boolean => checksFence && fence < order.highestFence;
  const happen = (order: Order, { run_id }: ToolCallRequest): void => {
    receiver.effects += 1;
    order.effects += 1;
    const isRepeated = order.effects > 1 + order.notDone;
    const isBesideOpen = [...orders.values()].some(
      (other) => other !== order && other.call === order.call && other.isOpen && other.knownTo.has(run_id),
    );
    if (isRepeated || isBesideOpen) receiver.effects_twice += 1;
  };
  const wake = (order: Order): void => {
    for (const late of order.frozen.splice(0)) {
      if (isRefused(order, late.fence)) continue;
      happen(order, late);
      order.isOpen = true;
    }
  };
  const receiver: Receiver = {
    effects: 0,
    effects_twice: 0,
    apply: (request) => {
      const order = orderOf(request);
      if (wakesFirst(request)) wake(order);
      order.highestFence = Math.max(order.highestFence, request.fence);
      happen(order, request);
    },
    leaveOpen: (request) => {
      const order = orderOf(request);
      if (order.effects > 0) order.isOpen = true;
      order.knownTo.add(request.run_id);
    },
    freeze: (request) => void orderOf(request).frozen.push(request),
    hasHappened: (request) => {
      const order = orderOf(request);
      if (wakesFirst(request)) wake(order);
      order.highestFence = Math.max(order.highestFence, request.fence);
      return order.effects > 0;
    },
    settle: (key, decision) => {
      const order = orders.get(key);
      if (order === undefined) return;
      order.isOpen = false;
      if (decision === 'not_done') order.notDone += 1;
    },
    startSubRun: (runId, openKeys) => {
      for (const key of openKeys) orders.get(key)?.knownTo.add(runId);
    },
    endSubRun: (runId, parentRunId) => {
      for (const order of orders.values()) if (order.knownTo.has(runId)) order.knownTo.add(parentRunId);
    },
    wakeAll: () => {
      for (const order of orders.values()) wake(order);
    },
  };
  return receiver;
}
