import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { file, node, plain, python, type ToolCase } from './case.ts';

/**
 * Collected after the second round of tuning: output that agents read often and that reports no failure. Files of this
 * repository, its log, manuals of tools, searches for failure words, and tests that pass. `$REPO` is its root.
 */
const tracked = execFileSync('git', ['ls-files'], { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:ts|md|yml)$|^Dockerfile$/.test(path) && !path.startsWith('test/corpus'));

const idOf = (path: string): string => path.replaceAll(/[^\w]+/g, '-');
const everyNth = (nth: number, first: number): string[] => tracked.filter((_path, index) => index % nth === first);

const whole = everyNth(9, 2).map((path) => plain(`cat-${idOf(path)}`, `cat $REPO/${path}`));
const parts = everyNth(13, 5).map((path) => plain(`sed-${idOf(path)}`, `sed -n '20,60p' $REPO/${path}; echo`));
const words = ['error', 'failed', 'crash', 'throw', 'retry', 'wrong', 'expect', 'exception', 'not working', 'almost'];
const searches = words.flatMap((word): ToolCase[] => [
  plain(`grep-${idOf(word)}`, `cd $REPO && grep -rn "${word}" src docs | head -25; true`),
  plain(`grep-files-${idOf(word)}`, `cd $REPO && grep -rlc "${word}" src test/unit docs | sort | head -30; true`),
]);
const manuals = [
  ...['E0004', 'E0023', 'E0106', 'E0133', 'E0282', 'E0382', 'E0425', 'E0499', 'E0502', 'E0599'].map((code) =>
    plain(`rustc-explain-${code}`, `rustc --explain ${code}`),
  ),
  ...['errors', 'io.EOF', 'fmt.Errorf', 'net/http.Error', 'os.Exit', 'testing.T', 'context', 'strconv.ParseInt'].map(
    (name) => plain(`go-doc-${idOf(name)}`, `go doc ${name} > page; head -60 page`),
  ),
  ...['test', 'exit', 'return', 'set', 'wait', 'kill', 'read', 'type', 'ulimit', 'hash'].map((name) =>
    plain(`bash-help-${name}`, `bash -c "help ${name}"`),
  ),
  ...[
    'logging',
    'unittest.TestCase.assertRaises',
    'subprocess.run',
    'ValueError',
    'contextlib.suppress',
    'os.stat',
  ].map((name) => plain(`pydoc-${idOf(name)}`, `python3 -m pydoc ${name} > page; head -60 page`)),
  ...['bisect', 'revert', 'rebase', 'stash', 'fsck', 'restore', 'push', 'merge'].map((name) =>
    plain(`git-${name}-h`, `git ${name} -h; true`),
  ),
  ...['make', 'gcc', 'jq', 'curl', 'zip', 'gdb', 'cargo test', 'cargo build', 'go test', 'npm test', 'sqlite3'].map(
    (name) => plain(`help-${idOf(name)}`, `${name} --help > page 2>&1; head -60 page`),
  ),
  ...['vitest', 'tsc', 'oxlint', 'knip', 'tsx', 'depcruise'].map((name) =>
    plain(`help-${name}-third`, `${name} --help > page 2>&1; head -50 page`),
  ),
];
const logs: ToolCase[] = [
  plain('git-log-oneline-repo', 'git -C $REPO log --oneline -30 4c96cd3 | cat'),
  plain('git-log-full-repo', 'git -C $REPO log -6 4c96cd3 | cat'),
  plain('git-log-stat-repo', 'git -C $REPO log --stat -3 4c96cd3 | cat'),
  plain('git-show-repo', 'git -C $REPO show --stat 22e05de | cat'),
  plain('git-diff-repo', 'git -C $REPO show 22e05de | head -80; true'),
  plain('git-grep-repo', 'git -C $REPO grep -n "catch (" -- src | head -20; true'),
  plain('ls-core', 'ls -la $REPO/src/core/failures | cut -c1-10,50-; true'),
  plain('ls-tests', 'ls $REPO/test/unit/core/*'),
  plain('find-errors', 'cd $REPO && find src test -name "*err*" -o -name "*fail*" | sort'),
  plain('wc-core', 'cd $REPO && wc -l src/core/retry/*.ts'),
  plain('tree-sizes', 'cd $REPO && du -a src/core/feedback | sort -k2 | cut -f2'),
  plain('package-json', 'cat $REPO/package.json'),
  plain('changelog', 'head -60 $REPO/CHANGELOG.md'),
  plain('jq-scripts', "jq '.scripts' $REPO/package.json"),
  plain('jq-policy', "jq '.[0]' $REPO/test/vectors/families.json | head -50"),
];
const passing: ToolCase[] = [
  file(
    'vitest-named-failures',
    'a.test.ts',
    "import { expect, it } from 'vitest';\nit('reports a failed upload', () => expect(1).toBe(1));\nit('throws TypeError for null', () => expect(() => { throw new TypeError('x'); }).toThrow());\n",
    'vitest run --reporter=verbose',
  ),
  file(
    'node-test-pass-third',
    'a.test.mjs',
    "import { test } from 'node:test';\ntest('rejects a wrong password', () => {});\ntest('survives a crash', () => {});\n",
    'node --test a.test.mjs',
  ),
  file(
    'unittest-pass-third',
    'test_a.py',
    "import unittest\nclass Errors(unittest.TestCase):\n    def test_failure_is_reported(self):\n        self.assertTrue(True)\n    def test_raises(self):\n        with self.assertRaises(ValueError):\n            int('x')\nunittest.main(verbosity=2)\n",
    'python3 test_a.py',
  ),
  file(
    'go-test-pass-third',
    'a_test.go',
    'package a\nimport "testing"\nfunc TestFailureIsCounted(t *testing.T) { t.Log("expected error: EOF") }\nfunc TestPanicRecovered(t *testing.T) { defer func() { recover() }(); panic("boom") }\n',
    'go mod init example.test/a >/dev/null 2>&1; go test -v ./...',
  ),
  file(
    'gcc-wall-clean',
    'a.c',
    '#include <stdio.h>\nint main(void) { puts("0 errors, 0 failures"); return 0; }\n',
    'gcc -Wall -o a a.c && ./a',
  ),
  file('tsc-pass-third', 'a.ts', 'export const failed: Error[] = [];\n', 'tsc --noEmit a.ts && echo "types are fine"'),
  file(
    'javac-pass-third',
    'A.java',
    'class A { public static void main(String[] a) { System.out.println("Errors: 0"); } }\n',
    'javac A.java && java A',
  ),
  plain('make-pass-third', "printf 'check:\\n\\t@echo checking for errors\\n\\t@echo ok\\n' > Makefile; make check"),
  plain('sh-x', 'set -x; test -e missing || echo "nothing to clean up"'),
  plain(
    'sqlite-status',
    "sqlite3 -header a.db \"create table jobs(id, status); insert into jobs values (1, 'done'), (2, 'failed'); select status, count(*) as n from jobs group by status\"",
  ),
  plain(
    'openssl-verify',
    'openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=example.test -days 1 2>/dev/null; openssl verify -CAfile c.pem c.pem',
  ),
  plain('tar-list', 'mkdir errors; echo a > errors/failed.log; tar czf a.tgz errors; tar tzvf a.tgz | cut -c1-30,48-'),
  plain('curl-version', 'curl --version'),
  plain(
    'cargo-pass',
    'cargo init --quiet --name errors --vcs none . && cargo check --offline --quiet && echo "check passed"',
  ),
];
const programs: ToolCase[] = [
  node(
    'log-retries',
    "for (const line of ['attempt 1: connection lost, retrying in 1 s', 'attempt 2: connected', 'synced 120 rows, 0 conflicts']) console.log(line);\n",
  ),
  node(
    'json-status',
    "console.log(JSON.stringify({ status: 'completed', attempts: 2, failures: [], error: null }, null, 2));\n",
  ),
  node(
    'json-run',
    "console.log(JSON.stringify([{ step: 1, tool: 'search', ok: true }, { step: 2, tool: 'write', ok: true, error: null }]));\n",
  ),
  node('table-checks', "console.table([{ check: 'lint', failed: 0 }, { check: 'types', failed: 0 }]);\n"),
  node('progress', 'for (const n of [10, 50, 100]) console.log(`${n} % done, 0 errors so far`);\n'),
  node(
    'coverage',
    "console.log('File        | % Stmts | % Branch\\nerrors.ts   |     100 |      100\\nfailures.ts |   98.11 |    95.45');\n",
  ),
  node('audit', "console.log('audited 412 packages in 2s\\n\\nfound 0 vulnerabilities');\n"),
  node(
    'info-log',
    "for (const m of ['server listening on 8080', 'GET /errors 200 12ms', 'GET /failed-jobs 200 3ms', 'shutting down']) console.log(`2026-03-01T10:00:00Z INFO ${m}`);\n",
  ),
  node(
    'warn-log',
    "for (const m of ['cache miss', 'slow query 812ms', 'using default timeout']) console.log(`[warn] ${m}`);\n",
  ),
  node('events', "console.log(['step_started', 'step_failed_counter=0', 'step_completed'].join('\\n'));\n"),
  python(
    'py-logging-info',
    "import logging, sys\nlogging.basicConfig(stream=sys.stdout, level='INFO')\nlogging.info('checked 12 files, no errors')\nlogging.info('error handler registered')\n",
  ),
  python('py-csv', "print('id,status,error\\n1,ok,\\n2,ok,\\n3,ok,')\n"),
  python('py-retry', "print('try 1 failed, trying again')\nprint('try 2 succeeded')\n"),
  python('py-pprint', "import pprint\npprint.pprint({'errors': [], 'failed': 0, 'passed': 31})\n"),
  python('py-exception-names', "print(', '.join(sorted(e.__name__ for e in Exception.__subclasses__())[:12]))\n"),
  python(
    'py-report',
    "print('Nightly report\\n==============\\nuploads: 310\\nfailed uploads: 0\\nretried: 4, all successful')\n",
  ),
  python('py-doc', 'print(ZeroDivisionError.__doc__)\n'),
  python(
    'py-help',
    "import argparse\np = argparse.ArgumentParser(prog='sync')\np.add_argument('--fail-fast', action='store_true', help='stop at the first error')\np.add_argument('--retries', help='how often a failed request is tried again')\np.print_help()\n",
  ),
];

export const thirdCleanCases: ToolCase[] = [
  ...whole,
  ...parts,
  ...searches,
  ...manuals,
  ...logs,
  ...passing,
  ...programs,
];
