/** There is a cursor exactly when there is more. */
export const page = (cursor: string | null): { next_cursor?: string } =>
  cursor === null ? {} : { next_cursor: cursor };
