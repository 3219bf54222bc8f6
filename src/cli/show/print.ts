export interface JsonFlag {
  json?: boolean;
}

/** The answer of a command: JSON for programs, lines for people. Everything else goes to stderr. */
export function print(flags: JsonFlag, value: object, lines: () => readonly string[]): void {
  process.stdout.write(`${flags.json ? JSON.stringify(value) : lines().join('\n')}\n`);
}
