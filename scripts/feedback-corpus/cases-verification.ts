import { file, node, plain, python, type ToolCase } from './case.ts';

const pytest = (id: string, body: string, options = ''): ToolCase =>
  file(id, 'test_app.py', body, `pytest -p no:cacheprovider ${options} test_app.py`.replaceAll('  ', ' '));
const jest = (id: string, body: string): ToolCase => ({
  id,
  files: { 'package.json': '{"name":"app"}', 'sum.test.js': body },
  command: 'jest --ci',
});
const vitest = (id: string, body: string, options = ''): ToolCase => ({
  id,
  files: {
    'package.json': '{"name":"app","type":"module"}',
    'cart.test.ts': `import { expect, test, describe, it } from 'vitest';\n${body}`,
  },
  command: `vitest run ${options}`.trim(),
});
const tsc = (id: string, body: string, options = ''): ToolCase =>
  file(id, 'app.ts', body, `tsc --noEmit --strict --ignoreConfig ${options} app.ts`.replaceAll('  ', ' '));
const rustc = (id: string, body: string): ToolCase => file(id, 'main.rs', body, 'rustc main.rs');
const gcc = (id: string, body: string): ToolCase => file(id, 'main.c', body, 'gcc -Wall -o main main.c');
const go = (id: string, files: Record<string, string>, command: string): ToolCase => ({
  id,
  files: { 'go.mod': 'module example.test/app\n\ngo 1.21\n', ...files },
  command,
});
const cargo = (id: string, body: string, command = 'cargo test -q'): ToolCase => ({
  id,
  files: { 'Cargo.toml': '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n', 'src/lib.rs': body },
  command: `${command} --offline`,
});
const eslintConfig =
  'export default [{ rules: { "no-unused-vars": "error", "eqeqeq": "error", "no-undef": "error" } }];\n';

/** Tests, builds, linters, type checks and validators that fail: label verification_failure. */
export const verificationCases: ToolCase[] = [
  pytest(
    'pytest-equal',
    'def total(xs):\n    return sum(xs) + 1\n\ndef test_total():\n    assert total([1, 2]) == 3\n',
  ),
  pytest('pytest-quiet', 'def test_name():\n    assert "ann".title() == "ANN"\n', '-q'),
  pytest('pytest-exception', 'def load():\n    raise ValueError("bad row")\n\ndef test_load():\n    load()\n'),
  pytest(
    'pytest-mixed',
    'def test_a():\n    assert True\n\ndef test_b():\n    assert [1, 2] == [1, 3]\n\ndef test_c():\n    assert True\n',
    '-v',
  ),
  pytest('pytest-raises', 'import pytest\n\ndef test_raises():\n    with pytest.raises(KeyError):\n        pass\n'),
  pytest('pytest-collect', 'import nowhere_module\n\ndef test_a():\n    pass\n'),
  pytest('pytest-fixture', 'def test_db(database):\n    assert database\n'),
  pytest('pytest-line', 'def test_a():\n    assert 1 == 2, "totals differ"\n', '--tb=line -q'),
  pytest(
    'pytest-summary',
    'import pytest\n\n@pytest.mark.parametrize("n", [1, 2, 3])\ndef test_even(n):\n    assert n % 2 == 0\n',
    '--tb=no',
  ),
  file(
    'unittest-fail',
    'test_x.py',
    'import unittest\n\nclass T(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 3)\n\nunittest.main()\n',
    'python3 test_x.py',
  ),
  file(
    'unittest-error',
    'test_x.py',
    "import unittest\n\nclass T(unittest.TestCase):\n    def test_load(self):\n        open('nowhere')\n\nunittest.main()\n",
    'python3 -m unittest test_x.py',
  ),
  file(
    'doctest-fail',
    'm.py',
    'def double(n):\n    """\n    >>> double(2)\n    4\n    """\n    return n + 3\n',
    'python3 -m doctest m.py',
  ),
  jest('jest-equal', "test('adds two numbers', () => {\n  expect(1 + 2).toBe(4);\n});\n"),
  jest(
    'jest-object',
    "describe('user', () => {\n  it('has a role', () => {\n    expect({ name: 'a' }).toEqual({ name: 'a', role: 'admin' });\n  });\n});\n",
  ),
  jest('jest-throws', "it('parses', () => {\n  JSON.parse('{');\n});\n"),
  jest(
    'jest-async',
    "it('resolves to ok', async () => {\n  await expect(Promise.reject(new Error('down'))).resolves.toBe('ok');\n});\n",
  ),
  jest('jest-empty', 'const x = 1;\n'),
  vitest('vitest-equal', "test('sums the cart', () => { expect([1, 2].length).toBe(3) });\n"),
  vitest(
    'vitest-throws',
    "describe('cart', () => { it('applies a coupon', () => { const c: any = null; c.apply() }) });\n",
  ),
  vitest('vitest-string', "it('greets', () => { expect('hello bob').toContain('alice') });\nit('other', () => {});\n"),
  vitest('vitest-plain', "it('rounds', () => { expect(1.005 * 100).toBe(100.5) });\n", '--no-color'),
  vitest('vitest-timeout', "it('waits', async () => { await new Promise(() => {}) }, 50);\n"),
  vitest('vitest-import', "import { x } from './missing';\nit('a', () => expect(x).toBe(1));\n"),
  vitest(
    'vitest-snapshot',
    "it('rejects bad input', () => { expect(() => {}).toThrow('bad') });\n",
    '--reporter=verbose',
  ),
  file(
    'mocha-fail',
    'a.spec.cjs',
    "const assert = require('assert');\ndescribe('Array', () => {\n  it('finds the index', () => assert.strictEqual([1, 2].indexOf(2), 2));\n  it('is fine', () => {});\n});\n",
    'mocha a.spec.cjs',
  ),
  file(
    'mocha-throws',
    'a.spec.cjs',
    "describe('api', () => {\n  it('answers', () => { throw new Error('socket hang up') });\n});\n",
    'mocha a.spec.cjs',
  ),
  file(
    'mocha-before',
    'a.spec.cjs',
    "describe('db', () => {\n  before(() => { throw new Error('no connection') });\n  it('reads', () => {});\n});\n",
    'mocha a.spec.cjs',
  ),
  file(
    'node-test-fail',
    'a.test.mjs',
    "import test from 'node:test';\nimport assert from 'node:assert';\ntest('upper case', () => assert.equal('a'.toUpperCase(), 'B'));\n",
    'node --test a.test.mjs',
  ),
  file(
    'node-test-tap',
    'a.test.mjs',
    "import test from 'node:test';\nimport assert from 'node:assert';\ntest('deep', () => assert.deepEqual({ a: 1 }, { a: 2 }));\n",
    'node --test --test-reporter=tap a.test.mjs',
  ),
  file(
    'node-test-throws',
    'a.test.mjs',
    "import test from 'node:test';\ntest('reads', () => { throw new TypeError('x is not iterable') });\n",
    'node --test a.test.mjs',
  ),
  file(
    'ava-fail',
    'a.test.mjs',
    "import test from 'ava';\ntest('status is ok', t => { t.is('ko', 'ok') });\n",
    'echo \'{"name":"app","type":"module"}\' > package.json; ava a.test.mjs',
  ),
  node('node-assert', "import assert from 'node:assert';\nassert.strictEqual(2 + 2, 5);\n"),
  node('node-assert-message', "import assert from 'node:assert';\nassert(false, 'balance must not be negative');\n"),
  python('python-assert', 'balance = -1\nassert balance >= 0, "balance is negative"\n'),
  python(
    'python-jsonschema',
    "import jsonschema\njsonschema.validate({'age': 'x'}, {'type': 'object', 'properties': {'age': {'type': 'number'}}})\n",
  ),
  python(
    'python-pydantic',
    'from pydantic import BaseModel\n\nclass User(BaseModel):\n    id: int\n    name: str\n\nUser(id="x")\n',
  ),
  file(
    'zod-parse',
    'main.mjs',
    "import { z } from 'zod';\nz.object({ id: z.number() }).parse({ id: 'a' });\n",
    'node main.mjs',
  ),
  {
    id: 'ajv-invalid',
    files: { 's.json': '{"type":"object","required":["id"]}', 'd.json': '{"name":1}' },
    command: 'ajv validate -s s.json -d d.json',
  },
  tsc('tsc-assign', "const n: number = 'a';\nexport { n };\n"),
  tsc('tsc-missing-prop', 'interface A { x: number; y: number }\nexport const a: A = { x: 1 };\n'),
  tsc('tsc-name', 'export const total = price * 2;\n'),
  tsc('tsc-pretty', 'export function f(a: string) { return a.lenght }\n', '--pretty'),
  tsc('tsc-null', 'export const f = (a: string | undefined) => a.length;\n'),
  tsc('tsc-module', "import { a } from './nowhere.js';\nexport const b = a;\n"),
  tsc('tsc-syntax', 'export const a = {;\n'),
  tsc('tsc-many', 'export const a: string = 1;\nexport const b: number = true;\nexport const c: boolean = "x";\n'),
  rustc('rustc-type', 'fn main() {\n    let n: i32 = "a";\n    println!("{}", n);\n}\n'),
  rustc(
    'rustc-borrow',
    'fn main() {\n    let a = String::from("x");\n    let b = a;\n    println!("{} {}", a, b);\n}\n',
  ),
  rustc('rustc-missing', 'fn main() {\n    missing_fn();\n}\n'),
  rustc('rustc-syntax', 'fn main() {\n    let x = 1\n    println!("{}", x);\n}\n'),
  cargo(
    'cargo-test',
    '#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(1 + 1, 3);\n    }\n}\n',
  ),
  cargo(
    'cargo-test-long',
    'pub fn half(n: u32) -> u32 { n / 3 }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn halves() { assert_eq!(half(4), 2, "half of four"); }\n    #[test]\n    fn zero() { assert_eq!(half(0), 0); }\n}\n',
    'cargo test',
  ),
  cargo(
    'cargo-test-panic',
    '#[cfg(test)]\nmod tests {\n    #[test]\n    fn opens() {\n        let v: Option<i32> = None;\n        v.unwrap();\n    }\n}\n',
    'cargo test',
  ),
  cargo('cargo-build', 'pub fn f() -> String { 1 }\n', 'cargo build'),
  cargo('cargo-check', 'pub fn f(x: Missing) {}\n', 'cargo check'),
  gcc('gcc-undeclared', 'int main(void) { return total; }\n'),
  gcc('gcc-semicolon', '#include <stdio.h>\nint main(void) { printf("a") return 0; }\n'),
  gcc('gcc-link', 'void helper(void);\nint main(void) { helper(); return 0; }\n'),
  gcc('gcc-header', '#include "missing.h"\nint main(void) { return 0; }\n'),
  file('gcc-werror', 'main.c', 'int main(void) { int unused; return 0; }\n', 'gcc -Wall -Werror -o main main.c'),
  file(
    'gpp-type',
    'main.cpp',
    '#include <string>\nint main() { std::string s = 5; return s; }\n',
    'g++ -o main main.cpp',
  ),
  file(
    'gpp-static-assert',
    'main.cpp',
    'static_assert(sizeof(int) == 2, "int has two bytes");\nint main() {}\n',
    'g++ main.cpp',
  ),
  file(
    'javac-symbol',
    'Main.java',
    'class Main { public static void main(String[] a) { System.out.println(total); } }\n',
    'javac Main.java',
  ),
  file('javac-type', 'Main.java', 'class Main { int f() { return "a"; } void g() { h() } }\n', 'javac Main.java'),
  file(
    'java-launch-compile',
    'Main.java',
    'class Main { public static void main(String[] a) { int x = "y"; } }\n',
    'java Main.java',
  ),
  file(
    'java-assert',
    'Main.java',
    'class Main { public static void main(String[] a) { assert a.length > 3 : "too few"; } }\n',
    'javac Main.java && java -ea Main',
  ),
  go(
    'go-test',
    {
      'a_test.go':
        'package app\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif got := 1 + 1; got != 3 {\n\t\tt.Errorf("Sum() = %d, want 3", got)\n\t}\n}\n',
    },
    'go test ./...',
  ),
  go(
    'go-test-verbose',
    {
      'a_test.go':
        'package app\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {}\nfunc TestName(t *testing.T) {\n\tt.Fatal("expected alice, got bob")\n}\n',
    },
    'go test -v ./...',
  ),
  go(
    'go-test-panic',
    {
      'a_test.go':
        'package app\n\nimport "testing"\n\nfunc TestMap(t *testing.T) {\n\tvar m map[string]int\n\tm["a"] = 1\n}\n',
    },
    'go test ./...',
  ),
  go(
    'go-test-build',
    { 'a_test.go': 'package app\n\nimport "testing"\n\nfunc TestX(t *testing.T) { missing() }\n' },
    'go test ./...',
  ),
  go('go-build', { 'main.go': 'package main\n\nfunc main() { x := 1 }\n' }, 'go build ./...'),
  go(
    'go-vet',
    { 'main.go': 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Printf("%d\\n", "a") }\n' },
    'go vet ./...',
  ),
  go('go-run-compile', { 'main.go': 'package main\n\nfunc main() {\n\treturn 1\n}\n' }, 'go run .'),
  {
    id: 'eslint-errors',
    files: { 'eslint.config.mjs': eslintConfig, 'a.js': 'const a = 1;\nif (b == 2) { c(); }\n' },
    command: 'eslint a.js',
  },
  { id: 'eslint-parse', files: { 'eslint.config.mjs': eslintConfig, 'a.js': 'const = 1;\n' }, command: 'eslint a.js' },
  file('prettier-check', 'a.js', 'const a   =  1\n', 'prettier --check a.js'),
  file('mypy-errors', 'a.py', 'def f(n: int) -> str:\n    return n\n\nf("a")\n', 'mypy a.py'),
  file('ruff-errors', 'a.py', 'import os\nimport sys\nx = y\n', 'ruff check a.py'),
  file('flake8-errors', 'a.py', 'import os\nx=1\nprint( y )\n', 'flake8 a.py'),
  file('pylint-errors', 'a.py', 'import os\nprint(undefined_name)\n', 'pylint --score=n a.py'),
  file('black-check', 'a.py', 'x = {  "a":1 }\n', 'black --check a.py'),
  file('yamllint-errors', 'a.yaml', 'a: 1\n a: 2\nb: [1, 2\n', 'yamllint a.yaml'),
  {
    id: 'npm-test-fail',
    files: {
      'package.json': '{"name":"app","scripts":{"test":"node --test"}}',
      'a.test.js': "require('node:test')('adds', () => require('assert').equal(1, 2));\n",
    },
    command: 'npm test',
  },
  {
    id: 'npm-test-none',
    files: { 'package.json': '{"name":"app","scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
    command: 'npm test',
  },
  {
    id: 'npm-build-fail',
    files: {
      'package.json': '{"name":"app","scripts":{"build":"tsc --noEmit --ignoreConfig app.ts"}}',
      'app.ts': 'const a: number = "x";\n',
    },
    command: 'npm run build',
  },
  file('make-compile', 'Makefile', 'all: main.o\n\nmain.o:\n\techo "int main( {" > main.c && gcc -c main.c\n', 'make'),
  file('make-no-rule', 'Makefile', 'all: missing.o\n\tgcc -o app missing.o\n', 'make'),
  file('make-test', 'Makefile', 'test:\n\t@echo running checks\n\t@test 1 -eq 2\n', 'make test'),
  {
    id: 'cmake-missing',
    files: {
      'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.10)\nproject(app C)\nadd_executable(app missing.c)\n',
    },
    command: 'cmake -S . -B build',
  },
  {
    id: 'esbuild-resolve',
    files: { 'app.js': "import a from './nowhere.js';\nconsole.log(a);\n" },
    command: 'esbuild app.js --bundle --outfile=out.js',
  },
  {
    id: 'vite-build',
    files: { 'index.html': '<script type="module" src="/main.js"></script>', 'main.js': "import './gone.js';\n" },
    command: 'vite build',
  },
  {
    id: 'terraform-validate',
    files: { 'main.tf': 'resource "x" {\n}\noutput "a" {\n value = var.nothing\n}\n' },
    command: 'terraform validate -no-color',
  },
  plain(
    'git-diff-check',
    'git init -q . && printf "a  \\n" > a.txt && git add a.txt && git diff --cached --check; echo "whitespace check failed"',
  ),
  plain('bash-n', "printf 'if true; then\\n' > a.sh; bash -n a.sh || echo 'a.sh: syntax check failed'"),
  plain('sha-check', 'echo a > a.txt; sha256sum a.txt > sums; echo b > a.txt; sha256sum -c sums'),
];
