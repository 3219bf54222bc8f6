/** What payloads say about themselves in their metadata, beside Temporal's own `encoding`. */
export const PAYLOAD_MARK = {
  /** On an answer to a query or an update: the codec does not encrypt it. */
  readable: 'secondwind-readable',
  /** On a value inside a worker: it arrived encrypted, so its answer is encrypted too. */
  wasEncrypted: 'secondwind-was-encrypted',
} as const;
