/** Everything that enters history or the store has a cap. Sizes in bytes of UTF-8 JSON unless the name says chars. */
export const CAP = {
  /** The run's own state, which travels with every hand-over. */
  stateBytes: 256 * 1024,
  /** A tool output up to this size travels in the activity's result; larger ones go to the store by id. */
  inlineOutputBytes: 8 * 1024,
  /** What a door accepts as one run: goal, input and plan together. They live in the state, so this is part of its cap. */
  runInputBytes: 96 * 1024,
  /** Outputs that only the state holds; beyond it they are written to the store early. */
  heldOutputBytes: 48 * 1024,
  /** How deep JSON may be nested. */
  jsonLevels: 100,
  /** What a planner may put into one call. */
  chosenInputBytes: 16 * 1024,
  /** What it may put into all calls of one turn together, and into its final answer. */
  chosenTogetherBytes: 64 * 1024,
  chosenOutputBytes: 32 * 1024,
  /** What a planner gets to see of its earlier steps, in characters. */
  plannerViewChars: 96 * 1024,
  /** What a reviewer gets to see of the steps it judges, and of each input and output among them, in characters. */
  reviewViewChars: 48 * 1024,
  reviewedChars: 2_000,
  /** The longest that one turn of a planner or one review may take. */
  turnMs: 600_000,
  /** What people said that the state keeps, in characters. */
  feedbackChars: 32 * 1024,
  /** The goal with what people asked for added to it. */
  refinedGoalChars: 8_000,
  /** Steps of earlier passes that the archive lists. */
  pastSteps: 200,
  goalChars: 4_000,
  planSteps: 250,
  messagePreviewChars: 300,
  textChars: 4_000,
  nameChars: 128,
  labels: 20,
  /** Distinct fingerprints kept in a run's state; the least useful are folded away beyond it. */
  fingerprintsInState: 100,
  outboxRecords: 20,
  /** Uses of lessons and evaluations that wait for the next write. */
  outboxUses: 100,
  /** Lessons of earlier runs that a run carries, and how much of each it shows. */
  lessonsInState: 20,
  lessonChars: 400,
  ignoredMessages: 20,
} as const;
