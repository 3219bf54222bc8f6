/** Makes errors from forms, and rewords them. Seeded, so that every measurement uses the same texts. */
import type { ErrorForm } from './known-errors.ts';

export type Random = () => number;

export const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
};

const split = (words: string): string[] => words.split(' ');
/** Names belong to an error: another table is another error. */
const NAMES: Record<string, readonly string[]> = {
  table: split(
    'orders invoices customers shipments products payments sessions events articles reviews tickets contracts ledgers readings vendors employees bookings campaigns cohorts patients courses wallets parcels recipes sensors tours claims policies leads tasks',
  ),
  field: split(
    'email country status amount quantity birthday postcode currency category sku iban locale priority weight colour region channel author rating barcode nickname discount supplier warranty tenure deadline subtotal altitude voltage gender',
  ),
  service: split(
    'atlas billing checkout courier dispatch estimator falcon gatekeeper harbor inventory juniper kestrel lantern mercury nimbus orchid pelican quartz raven sentinel tundra umbra vertex willow xenon yonder zephyr beacon cobalt drift',
  ),
  host: split(
    'api.northwind.example mirror.acme.example files.tailspin.example db7.contoso.example edge.fabrikam.example relay.litware.example auth.adatum.example cdn.proseware.example hooks.wingtip.example feeds.lucerne.example vault.margie.example tiles.trey.example',
  ),
  user: split('ada grace alan edsger barbara donald linus margaret dennis radia vint hedy katherine tim leslie anita'),
  pkg: split(
    'lodash requests serde tokio numpy pillow leftpad jinja flask axios moment protobuf boost eigen openssl harfbuzz sqlx pydantic celery redux cairo whisper gemma mistral ffmpeg opus',
  ),
  branch: split('main develop release-candidate hotfix-login feature-cart spike-search stable nightly legacy docs'),
  queue: split('inbound outbound retries webhooks emails thumbnails exports imports audits metrics alerts digests'),
};

const FOLDERS = split('srv home data mnt var opt app build work cache current releases shared jobs users tmp export');
const FILES = split(
  'config.yaml report.pdf main.rs index.ts model.bin photo.jpeg notes.md list.csv schema.xsd clip.mp4 song.wav brief.docx settings.json page.html',
);
const HEX = '0123456789abcdef';
const ID_CHARS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const chars = (random: Random, from: string, count: number): string =>
  Array.from({ length: count }, () => pick(random, Array.from(from))).join('');
const whole = (random: Random, most: number): number => 1 + Math.floor(random() * most);

/** Values that differ each time. */
const VALUES: Record<string, (random: Random) => string> = {
  n: (random) => String(whole(random, 10 ** whole(random, 5))),
  dur: (random) => `${whole(random, 900)} ${pick(random, ['ms', 's', 'seconds', 'minutes', 'hours'])}`,
  time: (random) =>
    `2026-0${whole(random, 9)}-1${whole(random, 9) - 1}T0${whole(random, 9)}:${10 + whole(random, 49)}:00Z`,
  uuid: (random) => [8, 4, 4, 4, 12].map((length) => chars(random, HEX, length)).join('-'),
  id: (random) =>
    `${pick(random, ['', 'obj-', 'ref_', 'A'])}${chars(random, ID_CHARS, 8 + whole(random, 4))}${whole(random, 99)}`,
  ip: (random) => `10.${whole(random, 254)}.${whole(random, 254)}.${whole(random, 254)}:${whole(random, 60_000)}`,
  path: (random) =>
    `/${Array.from({ length: 1 + whole(random, 3) }, () => pick(random, FOLDERS)).join('/')}/${pick(random, FILES)}`,
};

export interface KnownError {
  form: ErrorForm;
  /** The text with its names filled in; the values that differ each time are still slots. */
  named: string;
  text: string;
}

const SLOT = /\{(\w+)\}/g;
const fillValues = (random: Random, text: string): string =>
  text.replace(SLOT, (slot, name: string) => VALUES[name]?.(random) ?? slot);

export function makeError(random: Random, form: ErrorForm): KnownError {
  const named = form[2].replace(SLOT, (slot, name: string) => {
    const names = NAMES[name];
    return names === undefined ? slot : pick(random, names);
  });
  return { form, named, text: fillValues(random, named) };
}

/** Puts another value into the slots of these kinds. Returns null if the error has no such slot. */
function withOther(random: Random, { named, text }: KnownError, kinds: readonly string[]): string | null {
  const slots = [...named.matchAll(SLOT)].map(([, name = '']) => name);
  if (!slots.some((name) => kinds.includes(name))) return null;
  // The values of the other slots are read from the text.
  const pattern = named
    .split(SLOT)
    .map((part, index) => (index % 2 === 1 ? '(.+?)' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('');
  const values = new RegExp(`^${pattern}$`).exec(text)?.slice(1) ?? [];
  let index = 0;
  return named.replace(SLOT, (slot, name: string) => {
    const value = values[index] ?? slot;
    index += 1;
    return kinds.includes(name) ? (VALUES[name]?.(random) ?? value) : value;
  });
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  for (let at = left.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [one, two] = [left[at], left[other]];
    if (one === undefined || two === undefined) continue;
    left[at] = two;
    left[other] = one;
  }
  return left;
}

const WRAPPERS: readonly ((text: string) => string)[] = [
  (text) => `Error: ${text}`,
  (text) => `Tool call failed: ${text} (attempt 2 of 3)`,
  (text) => `RuntimeError: step could not finish because ${text}`,
  (text) => `[worker-7] ERROR ${text}; see the log for details`,
];

/** Every way of rewording. Null where it would change nothing. */
export const REWORDINGS: Record<string, (random: Random, error: KnownError) => string | null> = {
  numbers: (random, error) => withOther(random, error, ['n', 'dur', 'time']),
  ids: (random, error) => withOther(random, error, ['uuid', 'id', 'ip']),
  paths: (random, error) => withOther(random, error, ['path']),
  'word order': (random, { text }) => shuffled(random, text.split(' ')).join(' '),
  'first half': (_random, { text }) => text.slice(0, Math.ceil(text.length / 2)),
  'second half': (_random, { text }) => text.slice(Math.floor(text.length / 2)),
  wrapped: (random, { text }) => pick(random, WRAPPERS)(text),
  'all values, wrapped': (random, error) => pick(random, WRAPPERS)(fillValues(random, error.named)),
};

const DISTRACTORS = {
  what: split(
    'importer exporter scheduler renderer resolver validator sampler indexer mapper compiler loader tracker parser planner allocator balancer collector dispatcher encoder formatter listener monitor notifier optimiser packer reader replicator router scanner signer',
  ),
  did: split(
    'rejected skipped misread truncated duplicated misplaced overwrote stalled dropped delayed reordered mislabelled rounded ignored requeued',
  ),
  thing: split(
    'header footer snapshot segment cursor manifest ticket voucher template dashboard widget calendar mailbox playlist inventory roster schedule blueprint transcript catalogue thumbnail bookmark glossary waypoint checksum quota cluster tenant replica sandbox',
  ),
  why: [
    'the upstream feed sends nulls',
    'its checksum is stale',
    'a rename happened meanwhile',
    'the feature flag is off',
    'two writers raced',
    'the cache is cold',
    'disk pressure is high',
    'the license seat count is used up',
    'a leap second confuses it',
    'the encoding is mixed',
    'its parent was archived',
    'a mandatory label is missing',
    'the replica lags behind',
    'the sandbox forbids network',
    'somebody paused the rollout',
    'the sequence has a gap',
    'an older client is connected',
    'the rounding mode changed',
    'daylight saving began',
    'the schema registry is locked',
  ],
} as const;

/** An error of the many that fill a memory. */
export function makeDistractor(random: Random): KnownError {
  const { what, did, thing, why } = DISTRACTORS;
  const tool = `${pick(random, what)}.${pick(random, ['run', 'check', 'sync', 'read'])}`;
  const named = `${pick(random, what)} ${pick(random, did)} ${pick(random, thing)} {id} of {table} for {service}: ${pick(random, why)}, ${pick(random, thing)} {n}`;
  return makeError(random, [tool, pick(random, ['E_DATA', 'E_STATE', 'HTTP_400', 'TIMEOUT']), named]);
}
