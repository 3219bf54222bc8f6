/** What the global setups hand to every test file, by `inject(name)`. */
export interface ProvidedPrograms {
  /** The folder of `buildPrograms`. For one of them: `program(source)`. */
  programs: string;
}

/** For the projects `stack` and `kill` only. */
export interface ProvidedStack {
  temporalAddress: string;
  namespace: string;
  /** As the owner of the server, who may create databases. For an own one: `createTestDatabase()`. */
  databaseUrl: string;
  /** A file with the bundled workflows, made from the built programs. */
  bundlePath: string;
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- merging an interface is how vitest wants to be told
  export interface ProvidedContext extends ProvidedStack, ProvidedPrograms {}
}
