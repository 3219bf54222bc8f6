/** Whether this process serves others, as `dev`, `worker` and `api` do, and must not end with the reader of its output. */
let serving = false;

export const isServing = (): boolean => serving;

export function startServing(): void {
  serving = true;
}
