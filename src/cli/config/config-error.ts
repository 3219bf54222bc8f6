/** An invalid setting. Nothing was started. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'bad_setting';
  readonly nextStep: string;

  constructor(message: string, nextStep: string) {
    super(message);
    this.nextStep = nextStep;
  }
}
