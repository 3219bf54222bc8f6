/** Values that the global setups provide to every test file by `inject(name)`. */
export interface ProvidedPrograms {
  /** The folder of `buildPrograms`. Use `program(source)` for one of them. */
  programs: string;
}

/** For the projects `stack` and `kill` only. */
export interface ProvidedStack {
  temporalAddress: string;
  namespace: string;
  /** For the owner of the server, who may create databases. Use `createTestDatabase()` for one of your own. */
  databaseUrl: string;
  /** A file with the bundled workflows, made from the built programs. */
  bundlePath: string;
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- merging an interface is how vitest wants to be told
  export interface ProvidedContext extends ProvidedStack, ProvidedPrograms {}
}
