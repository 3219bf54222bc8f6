import { marker, type Rule } from './rule.ts';

/** Keys that fill several lines. A line break may be spelled as `\n`, as JSON and environment variables have it. */
export const PEM_RULES: readonly Rule[] = [
  {
    name: 'private_key',
    about: 'A private key as PEM (RSA, EC, OpenSSH, PGP, GCP service accounts), with real or escaped line breaks',
    anchors: ['PRIVATE KEY'],
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,.()]|\\{1,4}[nr]|-(?!----)){0,20000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g,
  },
  {
    name: 'private_key',
    about: 'The same without its end, because somebody cut it',
    anchors: ['PRIVATE KEY'],
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\{1,4}[nr]){1,8}[A-Za-z0-9+/=]{16,120}){1,1000}/g,
  },
  {
    name: 'putty_key',
    about: 'The private lines of a PuTTY key file',
    anchors: ['Private-Lines:'],
    pattern: /(Private-Lines: [0-9]{1,4})((?:(?:\s|\\{1,4}[nr]){1,4}[A-Za-z0-9+/=]{4,120}){1,1000})/g,
  },
];

/** A change that no pattern can make in linear time, because what tells the secret comes after it or far before. */
export interface BlockRule {
  name: string;
  about: string;
  anchor: string;
  apply(text: string): string;
}

const PEM_END = /-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_CHAR = /[A-Za-z0-9+/=\s\\]/;
const LONGEST_KEY = 20_000;

/** The end of a private key whose beginning was cut off: everything before it that can be a part of it goes too. */
function withoutKeyEnds(text: string): string {
  let clean = '';
  let from = 0;
  for (const match of text.matchAll(PEM_END)) {
    let start = match.index;
    while (start > from && match.index - start < LONGEST_KEY && KEY_CHAR.test(text[start - 1] ?? '')) start -= 1;
    // A word before it belongs to the sentence around it; a line of a key is longer than any word.
    while (start < match.index && !/^[A-Za-z0-9+/=\\]{24}/.test(text.slice(start, start + 24))) {
      const next = text.slice(start, match.index).search(/\s\S/);
      if (next === -1) start = match.index;
      else start += next + 1;
    }
    clean += text.slice(from, start) + marker('private_key');
    from = match.index + match[0].length;
  }
  return from === 0 ? text : clean + text.slice(from);
}

const SECRET_KIND = /kind\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["']?Secret\b/;
/** Real or escaped; in a group, so that a split keeps them. */
const LINE_BREAK = /(\n|\\n)/;
const DATA_LINE = /^(\s{1,20}[A-Za-z0-9._-]{1,253}:[ \t]{1,4})([^\s"'\\]{4,20000})/;

/** The data of a Kubernetes Secret in YAML: base64 or plain, it is all secret. */
function withoutKubernetesData(text: string): string {
  if (!SECRET_KIND.test(text)) return text;
  let inData = false;
  return text
    .split(LINE_BREAK)
    .map((line) => {
      if (/^(?:string)?[dD]ata:\s{0,10}$/.test(line)) inData = true;
      else if (/^[^\s\\]/.test(line)) inData = false;
      else if (inData) {
        return line.replace(DATA_LINE, (whole, name: string, value: string) =>
          value.startsWith('[redacted') ? whole : name + marker('kubernetes_secret'),
        );
      }
      return line;
    })
    .join('');
}

const JSON_DATA = /(\\{0,3}["'](?:stringData|data)\\{0,3}["']\s{0,3}:\s{0,3}\{)([^{}]{1,20000})(?=\})/g;

/** The same in JSON. */
const withoutKubernetesJson = (text: string): string =>
  SECRET_KIND.test(text)
    ? text.replace(JSON_DATA, (whole, before: string, data: string) =>
        /\[redacted/.test(data) ? whole : `${before}"${marker('kubernetes_secret')}":""`,
      )
    : text;

export const BLOCK_RULES: readonly BlockRule[] = [
  {
    name: 'private_key',
    about: 'The same without its beginning',
    anchor: '-----END ',
    apply: withoutKeyEnds,
  },
  {
    name: 'kubernetes_secret',
    about: 'The data of a Kubernetes Secret, as YAML',
    anchor: 'Secret',
    apply: withoutKubernetesData,
  },
  {
    name: 'kubernetes_secret',
    about: 'The same as JSON',
    anchor: 'Secret',
    apply: withoutKubernetesJson,
  },
];
