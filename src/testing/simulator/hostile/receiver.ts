import type { ToolCallRequest } from '../../../protocol/tools.ts';

/**
 * Whoever receives the side effects of the hostile runs. It counts every effect that happens and recognizes no repetition by
 * itself, so an effect that a run repeats is seen. Everything that arrives with one idempotency key is one order.
 */
export interface Receiver {
  /** Side effects that happened. */
  effects: number;
  /** Effects that happened again although nobody had said that the first was not done. */
  effects_twice: number;
  /** An attempt was made. It acts as `acts` says, and the run is told of its effect or not. */
  receive(request: ToolCallRequest, acts: Acts, isTold: boolean): void;
  /** Asked about an attempt: has it taken effect? From now on nothing older than the question may act. */
  hasHappened(request: ToolCallRequest): boolean;
  /** The run has learned what became of the effect under this key. */
  close(key: string): void;
  /** A person says that the effect under this key was not done. */
  denyByPerson(key: string): void;
  /** A sub-run starts and knows of the open effects under these keys. */
  startSubRun(runId: string, openKeys: readonly string[]): void;
  /** A sub-run has ended, so its parent knows what it knew. */
  endSubRun(runId: string, parentRunId: string): void;
  /** Every attempt that is still frozen wakes up. */
  wakeAll(): void;
}

/**
 * When an attempt acts. With `later` its worker is frozen: it acts when it wakes up, unless the receiver has seen a newer
 * fence by then.
 */
export type Acts = 'now' | 'later' | 'never';

interface Order {
  call: string;
  effects: number;
  /** An attempt has acted, or will act when it wakes up, and nobody has told the run what became of it. */
  isOpen: boolean;
  /** An attempt has acted since the order was opened. */
  hasActed: boolean;
  /** Another order of the same call acted while this one was open and had not acted yet. */
  isOvertaken: boolean;
  /** How often a person said that it was not done. */
  notDone: number;
  highestFence: number;
  frozen: Frozen[];
  /** The runs that know that this effect may have happened. */
  knownTo: Set<string>;
}

interface Frozen {
  fence: number;
  /** Orders of the same call that were open, as the run knew, when the attempt was made. */
  beside: Order[];
}

/** Half of the frozen attempts act before the next request about their order arrives, half of them after it. */
const wakesFirst = ({ fence }: ToolCallRequest): boolean => fence % 2 === 0;

export function openReceiver(checksFence = true): Receiver {
  const orders = new Map<string, Order>();
  const orderOf = ({ tool, input, idempotency_key }: ToolCallRequest): Order => {
    const known = orders.get(idempotency_key);
    if (known !== undefined) return known;
    const order = {
      call: `${tool} ${JSON.stringify(input)}`,
      effects: 0,
      isOpen: false,
      hasActed: false,
      isOvertaken: false,
      notDone: 0,
      highestFence: 0,
      frozen: [],
      knownTo: new Set<string>(),
    };
    orders.set(idempotency_key, order);
    return order;
  };
  const openBeside = (order: Order, runId: string): Order[] => {
    const beside: Order[] = [];
    for (const other of orders.values()) {
      if (other.isOpen && other !== order && other.call === order.call && other.knownTo.has(runId)) beside.push(other);
    }
    return beside;
  };
  const happen = (order: Order, beside: Order[]): void => {
    receiver.effects += 1;
    order.effects += 1;
    const isRepeated = order.effects > 1 + order.notDone;
    if (isRepeated || order.isOvertaken || beside.some(({ hasActed }) => hasActed)) receiver.effects_twice += 1;
    for (const other of beside) other.isOvertaken ||= !other.hasActed;
    order.hasActed = order.isOpen;
  };
  const wake = (order: Order): void => {
    for (const { fence, beside } of order.frozen.splice(0)) {
      if (!checksFence || fence >= order.highestFence) happen(order, beside);
    }
  };
  const close = (order: Order | undefined): void => {
    if (order !== undefined) Object.assign(order, { isOpen: false, hasActed: false, isOvertaken: false });
  };
  const receiver: Receiver = {
    effects: 0,
    effects_twice: 0,
    receive: (request, acts, isTold) => {
      if (acts === 'never') return;
      const order = orderOf(request);
      const { fence, run_id } = request;
      if (acts === 'now') {
        if (wakesFirst(request)) wake(order);
        order.highestFence = Math.max(order.highestFence, fence);
      }
      const beside = openBeside(order, run_id);
      if (!isTold) {
        order.isOpen = true;
        order.knownTo.add(run_id);
      }
      if (acts === 'now') happen(order, beside);
      else order.frozen.push({ fence, beside });
      if (isTold) close(order);
    },
    hasHappened: (request) => {
      const order = orderOf(request);
      if (wakesFirst(request)) wake(order);
      order.highestFence = Math.max(order.highestFence, request.fence);
      return order.effects > 0;
    },
    close: (key) => close(orders.get(key)),
    denyByPerson: (key) => {
      const order = orders.get(key);
      if (order === undefined) return;
      close(order);
      order.notDone += 1;
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
