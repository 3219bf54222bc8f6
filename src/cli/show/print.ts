export interface JsonFlag {
  json?: boolean;
}

/** Prints the result of a command: JSON for programs or lines for people. Everything else goes to stderr. */
export function print(flags: JsonFlag, value: object, lines: () => readonly string[]): void {
  process.stdout.write(`${flags.json ? JSON.stringify(value) : lines().join('\n')}\n`);
}
