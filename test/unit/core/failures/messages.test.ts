import { describe, expect, it } from 'vitest';
import { normaliseMessage } from '../../../../src/core/failures/normalise-message.ts';
import { salientLine } from '../../../../src/core/failures/salient-line.ts';

/** Messages as tools, compilers and servers really write them, and what is left for the fingerprint. */
const TABLE: readonly (readonly [name: string, message: string, normalised: string])[] = [
  [
    'node ENOENT',
    "Error: ENOENT: no such file or directory, open '/home/u/my app/data/config.json'",
    "Error: ENOENT: no such file or directory, open 'config.json'",
  ],
  ['node refused, IPv4', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <addr>'],
  ['node refused, IPv6', 'connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED <addr>'],
  ['an IPv4 address written as IPv6', 'connect ECONNREFUSED ::ffff:10.0.0.7:5432', 'connect ECONNREFUSED <addr>'],
  [
    'node port taken',
    'listen EADDRINUSE: address already in use :::3000',
    'listen EADDRINUSE: address already in use <addr>',
  ],
  ['unknown host', 'getaddrinfo ENOTFOUND api.example.com', 'getaddrinfo ENOTFOUND api.example.com'],
  [
    'node missing module, after its excerpt',
    "node:internal/modules/cjs/loader:1147\n  throw err;\n  ^\n\nError: Cannot find module '@scope/left'\nRequire stack:\n- /home/u/x.js",
    "Error: Cannot find module '@scope/left'",
  ],
  [
    'node uncaught, after its excerpt',
    "/home/u/index.js:3\n  throw new TypeError('f');\n  ^\n\nTypeError: f is not a function\n    at main (/home/u/index.js:3:9)",
    'TypeError: f is not a function',
  ],
  [
    'python traceback',
    'Traceback (most recent call last):\n  File "/srv/app.py", line 10, in <module>\n    main()\nValueError: bad colour \'red\'\n',
    "ValueError: bad colour 'red'",
  ],
  [
    'python chained tracebacks',
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: \'a\'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", line 5\nModuleNotFoundError: No module named \'yaml\'\nexit status 1',
    "ModuleNotFoundError: No module named 'yaml'",
  ],
  [
    'python syntax error',
    '  File "x.py", line 3\n    foo(\n       ^\nSyntaxError: \'(\' was never closed',
    "SyntaxError: '(' was never closed",
  ],
  [
    'tsc, short form',
    "src/core/x.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/y.ts(1,1): error TS1: other",
    "x.ts(<n>): error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    'tsc, pretty form',
    "> build\n> tsc\n\n\u001b[96msrc/x.ts\u001b[0m:\u001b[93m3\u001b[0m:\u001b[93m5\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2304: \u001b[0mCannot find name 'foo'.",
    "x.ts:<n> - error TS2304: Cannot find name 'foo'.",
  ],
  [
    'gcc',
    "In file included from a.h:1:\n/usr/src/main.c:12:9: error: expected ';' before 'return'",
    "main.c:<n>: error: expected ';' before 'return'",
  ],
  [
    'rustc',
    'error[E0382]: borrow of moved value: `s`\n --> src/main.rs:4:20',
    'error[E0382]: borrow of moved value: `s`',
  ],
  [
    'rust panic',
    "thread 'main' panicked at src/main.rs:2:5:\ncalled `Option::unwrap()` on a `None` value",
    'called `Option::unwrap()` on a `None` value',
  ],
  [
    'go panic',
    'exit status 2\npanic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:',
    'panic: runtime error: index out of range [<n>] with length 3',
  ],
  [
    'java',
    'java.lang.NullPointerException: Cannot invoke "a.b()"\n\tat com.x.Y.z(Y.java:12)',
    'java.lang.NullPointerException: Cannot invoke "a.b()"',
  ],
  [
    'pg unique',
    'duplicate key value violates unique constraint "users_email_key"',
    'duplicate key value violates unique constraint "users_email_key"',
  ],
  ['pg detail', 'Key (email)=(a.b@example.com) already exists.', 'Key (email)=(<row>) already exists.'],
  [
    'pg position',
    'relation "users" does not exist at character 15',
    'relation "users" does not exist at character <n>',
  ],
  ['row id in parentheses', 'could not update order (1234): locked', 'could not update order (<row>): locked'],
  ['a status in parentheses is no row', 'request failed with status (404)', 'request failed with status (404)'],
  [
    'request id of a provider',
    'Overloaded (request id: req_011CSHoEeqs5C35K2UUXMWj9)',
    'Overloaded (request id: <request>)',
  ],
  [
    'request id of a cloud',
    'AccessDenied: Request ID: 4D5E6F7A, Extended Request ID: ab/cd+ef=',
    'AccessDenied: Request ID: <request>, Extended Request ID: <request>',
  ],
  [
    'request id in JSON',
    '{"error":"overloaded","request_id":"abc-123"}',
    '{"error":"overloaded","request_id":"<request>"}',
  ],
  ['printed JSON', '{\n  "error": "overloaded"\n}', '{ "error": "overloaded" }'],
  ['a page instead of an answer', '<html>\r\n<head><title>502 Bad Gateway</title></head>', '502 Bad Gateway'],
  [
    'durations',
    'Timeout of 5000ms exceeded after 2m30s, not 30 seconds',
    'Timeout of <duration> exceeded after <duration>, not <duration>',
  ],
  [
    'log line',
    '2024-05-01T12:34:56.789Z ERROR worker[123] job 9f8e7d6c5b4a3210 failed',
    '<time> ERROR worker[<n>] job <hex> failed',
  ],
  ['http date', 'stale since Wed, 01 May 2024 12:34:56 GMT', 'stale since <time>'],
  ['JSON.parse', 'Unexpected token < in JSON at position 17', 'Unexpected token < in JSON at position <n>'],
  [
    'python JSON',
    "Expecting ',' delimiter: line 1 column 5 (char 4)",
    "Expecting ',' delimiter: line <n> column <n> (char <n>)",
  ],
  ['pids', '(node:12345) Warning: pid 77 is gone', '(node:<n>) Warning: pid <n> is gone'],
  ['an exit code is no pid', 'Process 123 exited with code 137', 'Process <n> exited with code 137'],
  ['temp folder', "cannot open '/tmp/tmpk3j2h1x9/out.json'", "cannot open 'out.json'"],
  ['temp name', 'cannot open /var/folders/zz/zy/T/tmp.Xa83kdkE2s', 'cannot open <tmp>'],
  ['mkdtemp', 'cannot remove /tmp/build-x8S7d6', 'cannot remove build-<tmp>'],
  ['temperature is no temp name', 'temperature temp_table too high', 'temperature temp_table too high'],
  ['windows path', 'cannot open "C:\\Users\\me\\App Data\\file.txt"', 'cannot open "file.txt"'],
  [
    'address with login and port',
    'GET https://user:pw@api.example.com:8443/v1/users/me 503',
    'GET https://api.example.com:<n>/me 503',
  ],
  ['python object', '<Foo object at 0x7f8b1c000b20> is closed', '<Foo object at <addr>> is closed'],
  ['a Windows error code is no address', 'HRESULT 0x80070005', 'HRESULT 0x80070005'],
  ['media types and packages are no paths', "text/html is not 'lodash/fp'", "text/html is not 'lodash/fp'"],
  ['counted attempts', 'attempt 3 failed on port 8080', 'attempt <n> failed on port <n>'],
  ['colours and NUL', '\u001b[31mError:\u001b[0m a\u0000b', 'Error: a b'],
];

describe('what is left of a message', () => {
  it.each(TABLE)('%s', (_name, message, normalised) => {
    expect(normaliseMessage(salientLine(message))).toBe(normalised);
  });

  it.each(TABLE)('%s stays the same when it is normalised again', (_name, _message, normalised) => {
    expect(normaliseMessage(normalised)).toBe(normalised);
  });

  it('the salient line is found at the end of a traceback of ten megabytes', () => {
    const frames = '  File "/srv/app.py", line 10, in f\n    f()\n'.repeat(230_000);
    expect(salientLine(`Traceback (most recent call last):\n${frames}RecursionError: too deep`)).toBe(
      'RecursionError: too deep',
    );
  });
});

describe('scanning is linear', () => {
  const hostile = [
    '1',
    'a',
    'A1',
    '/',
    '\\',
    ':',
    '1:',
    '1.',
    '(',
    "'/",
    '0x',
    'tmp',
    '<',
    ' ',
    '-',
    '1m',
    'req_',
    'a.',
    'Jan 1 ',
    '\u001b[',
    'request id ',
    '"/a',
    '1-',
  ];
  it.each(hostile)('scanning a megabyte of %j takes under 250 ms', (unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    // Of this process alone: how busy the machine is says nothing about the expressions.
    const before = process.cpuUsage();
    normaliseMessage(salientLine(text));
    normaliseMessage(text);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(250);
  });
});
