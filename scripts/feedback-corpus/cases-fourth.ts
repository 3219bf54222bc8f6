import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { file, node, plain, python, type ToolCase } from './case.ts';

/** Collected after the third round of tuning. No pattern was tuned on it, so its figure is the most reliable. */
const tracked = execFileSync('git', ['ls-files'], { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:ts|md|yml|json)$/.test(path) && !/^test\/(?:corpus|replay)|package-lock/.test(path));

const idOf = (path: string): string => path.replaceAll(/[^\w]+/g, '-');
const files = tracked
  .filter((_path, index) => index % 8 === 6)
  .map((path) => plain(`file-${idOf(path)}`, `sed -n '1,90p' $REPO/${path}`));
const manuals = [
  ...[
    'E0002',
    'E0034',
    'E0071',
    'E0092',
    'E0152',
    'E0203',
    'E0264',
    'E0323',
    'E0366',
    'E0411',
    'E0431',
    'E0571',
    'E0623',
  ].map((code) => plain(`explain-${code}-fourth`, `rustc --explain ${code}`)),
  ...[
    'bz2',
    'cgi',
    'chunk',
    'cmd',
    'doctest',
    'filecmp',
    'graphlib',
    'lzma',
    'nntplib',
    'optparse',
    'pkgutil',
    'runpy',
    'site',
  ].map((name) => plain(`pydoc-${name}-fourth`, `python3 -W ignore -m pydoc ${name} > page; head -70 page`)),
  ...[
    'archive/tar',
    'bytes.Reader',
    'encoding/csv',
    'hash/crc32',
    'html/template',
    'net/mail',
    'os.Signal',
    'plugin',
    'log/slog',
  ].map((name) => plain(`go-doc-${idOf(name)}-fourth`, `go doc ${name} > page; head -70 page`)),
  ...['cherry', 'daemon', 'fast-import', 'ls-tree', 'mergetool', 'prune', 'repack', 'var', 'write-tree'].map((name) =>
    plain(`git-${name}-h-fourth`, `git ${name} -h > page 2>&1; head -60 page`),
  ),
  ...[
    'chgrp',
    'csplit',
    'expand',
    'install',
    'logname',
    'mkfifo',
    'numfmt',
    'shuf',
    'stdbuf',
    'tsort',
    'unlink',
    'users',
  ].map((name) => plain(`help-${name}-fourth`, `${name} --help > page 2>&1; head -60 page`)),
  ...['build', 'clippy', 'fetch', 'init', 'run', 'tree', 'update'].map((name) =>
    plain(`cargo-${name}-help-fourth`, `cargo ${name} --help > page 2>&1; head -60 page`),
  ),
  ...['build', 'env', 'fmt', 'generate', 'get', 'list', 'tool', 'environment', 'cache'].map((name) =>
    plain(`go-help-${name}-fourth`, `go help ${name} > page 2>&1; head -60 page`),
  ),
];
const searches = ['timeout', 'reject', 'panic', 'invalid', 'missing', 'cannot', 'warning', 'undo'].map((word) =>
  plain(
    `search-${word}-fourth`,
    `cd $REPO && grep -rn "${word}" src test/unit > /tmp/page-$$; head -20 /tmp/page-$$; rm /tmp/page-$$`,
  ),
);
const runs: ToolCase[] = [
  file(
    'node-test-third-party',
    'b.test.mjs',
    "import assert from 'node:assert';\nimport { describe, it } from 'node:test';\ndescribe('errors', () => {\n  it('are thrown for a bad port', () => assert.throws(() => new URL('x')));\n  it('name the wrong field', () => {});\n});\n",
    'node --test --test-reporter=spec b.test.mjs',
  ),
  file(
    'vitest-fourth',
    'b.test.ts',
    "import { expect, test } from 'vitest';\ntest.each([1, 2, 3])('retry %i recovers from a failure', (n) => expect(n).toBeGreaterThan(0));\ntest.skip('crashes on old phones', () => {});\n",
    'vitest run --reporter=verbose',
  ),
  file(
    'go-bench-fourth',
    'b_test.go',
    'package b\nimport "testing"\nfunc BenchmarkErrorPath(b *testing.B) { for i := 0; i < b.N; i++ { _ = i } }\nfunc TestError(t *testing.T) {}\n',
    'go mod init example.test/b >/dev/null 2>&1; go vet ./... && go test -run TestError -v ./...',
  ),
  file(
    'py-compile-fourth',
    'c.py',
    'class RetryError(Exception):\n    pass\n',
    'python3 -m py_compile c.py && echo compiled',
  ),
  file('oxlint-fourth', 'a.ts', 'export const lastError: Error | null = null;\n', 'oxlint a.ts'),
  file(
    'awk-fourth',
    'a.log',
    '10:00 ok\n10:01 ok\n10:02 ok\n',
    'awk \'/fail/ { n++ } END { print "failures:", n + 0 }\' a.log',
  ),
  plain('psql-version-fourth', 'psql --version'),
  plain(
    'git-merge-fourth',
    'git init -q -b main . && git config user.email a@example.test && git config user.name A && git commit -q --allow-empty -m "Start" && git switch -q -c fix && echo a > error.txt && git add . && git commit -q -m "Explain the error" && git switch -q main && git merge --no-ff -m "Merge the error fix" fix | cat',
  ),
  plain(
    'git-revert-fourth',
    'git init -q -b main . && git config user.email a@example.test && git config user.name A && echo a > a && git add . && git commit -q -m "Fail early" && git revert --no-edit HEAD | sed "s/[0-9a-f]\\{7,\\}/1234567/; s/^ Date:.*/ Date: Mon Mar 2/"',
  ),
  plain(
    'npm-run-fourth',
    'printf \'{"name":"a","scripts":{"test":"echo all tests passed","lint":"echo 0 errors"}}\' > package.json; npm run test; npm run lint',
  ),
  plain(
    'make-n-fourth',
    "printf 'all: a.o\\na.o:\\n\\tcc -Werror -Wno-error=unused -c a.c\\n' > Makefile; make -n all",
  ),
  plain(
    'diff-u-fourth',
    'printf "retry: 2\\nfail_fast: true\\n" > a; printf "retry: 3\\nfail_fast: true\\n" > b; diff -u --label a --label b a b; true',
  ),
  plain('env-fourth', 'env -i RETRY_ON_ERROR=1 FAIL_FAST=0 env'),
  plain('seq-fourth', 'for i in 1 2 3; do echo "check $i of 3: ok"; done; echo "all checks passed"'),
];
const programs: ToolCase[] = [
  node(
    'fourth-summary',
    "console.log('Suites: 12 passed, 12 total\\nTests:  88 passed, 2 skipped, 90 total\\nTime:   4.1 s');\n",
  ),
  node('fourth-health', "console.log('db: ok\\nqueue: ok (0 failed, 0 delayed)\\ndisk: 41 % used');\n"),
  node('fourth-map', "console.log(new Map([['errors', 0], ['failures', 0]]));\n"),
  node(
    'fourth-migrate',
    "for (const n of ['001_init', '002_failures', '003_error_index']) console.log(`applied ${n}`);\n",
  ),
  node(
    'fourth-deploy',
    "console.log('Deploying 3 services\\n  api      ready\\n  worker   ready\\n  crash-reporter ready\\nDone in 14 s');\n",
  ),
  node(
    'fourth-json',
    "console.log(JSON.stringify({ id: 7, outcome: 'completed', retries: 1, warnings: [], last_error: null }, null, 2));\n",
  ),
  node(
    'fourth-log',
    "for (const m of ['retry scheduled in 2000 ms', 'retry 1 succeeded', 'queue drained']) console.log(JSON.stringify({ level: 'info', msg: m }));\n",
  ),
  node('fourth-poem', "console.log('To err is human,\\nto retry is code,\\nand to stop in time is wisdom.');\n"),
  python('fourth-table', "print('service   up    errors\\napi       yes        0\\nworker    yes        0')\n"),
  python(
    'fourth-warn',
    "import warnings\nwarnings.simplefilter('ignore')\nprint('3 deprecation warnings were ignored')\n",
  ),
  python('fourth-mro', 'print([c.__name__ for c in FileNotFoundError.__mro__])\n'),
  python('fourth-doc', "print(KeyError.__doc__, '/', ValueError.__doc__, '/', TimeoutError.__doc__)\n"),
];

export const fourthCleanCases: ToolCase[] = [...files, ...manuals, ...searches, ...runs, ...programs];
