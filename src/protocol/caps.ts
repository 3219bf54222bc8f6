/** Caps on everything that enters history or the store. Sizes are bytes of UTF-8 JSON unless the name says chars. */
export const CAP = {
  /** The run's state, which travels with every continue-as-new. */
  stateBytes: 256 * 1024,
  /**
   * A tool output up to this size travels in the activity's result. A larger one goes to the store and travels by id.
   */
  inlineOutputBytes: 8 * 1024,
  /** The salient part of what a failed command printed, for whoever chose the call. */
  failedOutputBytes: 8 * 1024,
  /** Goal, input and plan of one run together. They are part of the state, so this is part of its cap. */
  runInputBytes: 96 * 1024,
  /** Outputs that only the state holds. If they grow beyond this, they are written to the store early. */
  heldOutputBytes: 48 * 1024,
  /** Levels of nesting in JSON. */
  jsonLevels: 100,
  /** The input of one call that a planner chooses. */
  chosenInputBytes: 16 * 1024,
  /** The inputs of all calls of one planner turn together, and the planner's final answer. */
  chosenTogetherBytes: 64 * 1024,
  chosenOutputBytes: 32 * 1024,
  /** Everything that a planner returns from one turn, in characters. */
  choiceChars: 256 * 1024,
  /** What a tool may tell with a heartbeat. Temporal keeps it with the activity, so it has to be small. */
  heartbeatBytes: 16 * 1024,
  /** The view of its earlier steps that a planner gets, in characters. */
  plannerViewChars: 96 * 1024,
  /** The view of the steps that a reviewer gets, and of each of their inputs and outputs, in characters. */
  reviewViewChars: 48 * 1024,
  reviewedChars: 2_000,
  /** Timeout of one planner turn or one review. */
  turnMs: 600_000,
  /** People's feedback in the state, in characters. */
  feedbackChars: 32 * 1024,
  /** Corrections of people that a run shows in its guidance. The store has all of them. */
  corrections: 3,
  /** The goal together with the changes that people asked for. */
  refinedGoalChars: 8_000,
  /** Steps of earlier passes that the archive lists. */
  pastSteps: 200,
  /** Plan and inputs of steps that one archive carries to the store. Inputs beyond that stay in the history only. */
  archivedInputBytes: 512 * 1024,
  goalChars: 4_000,
  planSteps: 250,
  messagePreviewChars: 300,
  /** What the list of steps shows of an input or an output, as JSON. */
  previewChars: 2_000,
  /** What a question carries of an input, as JSON. It is more than people are shown, so that secrets are found before it is cut. */
  askedInputChars: 8_000,
  textChars: 4_000,
  nameChars: 128,
  labels: 20,
  /** Distinct fingerprints in a run's state. Beyond this the least useful ones are dropped. */
  fingerprintsInState: 100,
  /** Failure records in one write. */
  outboxRecords: 20,
  /** Ids of chunks, and of evidence, in a failure record, and the characters of each. */
  refIds: 20,
  refIdChars: 200,
  /** A compressed output that travels in an activity's result. Temporal takes 2 MB, and base64 adds a third. */
  carriedBytes: 1_300_000,
  /** How long one attempt waits for the store, beyond the time that its tool has. */
  storeWaitMs: 900_000,
  /** How long an output that is too large for `carriedBytes` waits for the store after that, because it would be lost. */
  uncarriedWaitMs: 24 * 60 * 60_000,
  /** How long an attempt of a side effect is waited for that goes on after its timeout, with heartbeats. */
  lateEffectMs: 60_000,
  /** Uses of lessons, and evaluations, that wait for the next write. */
  outboxUses: 100,
  /** Lessons of earlier runs that a run carries, and how many characters of each it shows. */
  lessonsInState: 20,
  lessonChars: 400,
  ignoredMessages: 20,
  /** Distinct calls, without reads, whose number a run counts for idempotency keys. */
  countedCalls: 1_000,
  /** The output that a person gives with the decision `done`, as JSON. */
  answerOutputChars: 64 * 1024,
} as const;
