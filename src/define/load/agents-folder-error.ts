/** The folder of agents cannot be used. Nothing was started. */
export class AgentsFolderError extends Error {
  override readonly name = 'AgentsFolderError';
  readonly code = 'bad_usage';
  readonly nextStep: string;

  constructor(message: string, nextStep: string, cause?: unknown) {
    super(message, { cause });
    this.nextStep = nextStep;
  }
}

export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
