/** Everything that enters history or the store has a cap. Sizes in bytes of UTF-8 JSON unless the name says chars. */
export const LIMIT = {
  /** The run's own state, which travels with every hand-over. */
  stateBytes: 256 * 1024,
  /** A tool output up to this size travels in the activity's result; larger ones go to the store by id. */
  inlineOutputBytes: 8 * 1024,
  /** What a door accepts as one run: goal, input and plan together. */
  runInputBytes: 512 * 1024,
  goalChars: 4_000,
  planSteps: 500,
  messagePreviewChars: 300,
  textChars: 4_000,
  nameChars: 128,
  labels: 20,
  /** Distinct fingerprints kept in a run's state; the least useful are folded away beyond it. */
  fingerprintsInState: 100,
  outboxRecords: 50,
  ignoredMessages: 20,
} as const;
