/** Recorded calls of agents, with the verdict that every way of watching them must reach at the same call. */
export interface RecordedCall {
  tool: string;
  input: Record<string, string>;
  output: string;
  failed: boolean;
}

export interface Recording {
  name: string;
  calls: RecordedCall[];
  /** The call after which the agent is stuck, and the rule; null if it never is. */
  stuck: { at: number; rule: string } | null;
}

const works = (tool: string, input: Record<string, string>, output: string): RecordedCall => ({
  tool,
  input,
  output,
  failed: false,
});
const fails = (tool: string, input: Record<string, string>, output: string): RecordedCall => ({
  tool,
  input,
  output,
  failed: true,
});
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n + 1));

const DRAWERS = ['letters', 'stamps', 'parcels', 'keys', 'maps', 'coins', 'tickets', 'photos', 'tools'];

export const RECORDINGS: Recording[] = [
  {
    name: 'an equal call that fails',
    calls: [
      works('list_files', { path: '/desk' }, 'letters\nparcels'),
      ...times(5, () => fails('weigh', { what: 'parcels' }, 'Error: the scale does not answer')),
    ],
    stuck: { at: 4, rule: 'same_call_failing' },
  },
  {
    name: 'an equal call with an equal answer',
    calls: times(7, () => works('read_file', { path: '/desk/letter' }, 'Dear Ada, the parcels have arrived.')),
    stuck: { at: 4, rule: 'same_call_same_outcome' },
  },
  {
    name: 'ever other searches that find nothing',
    calls: times(9, (n) => works('search', { query: `where are the ${DRAWERS[n - 1]}` }, 'No match')),
    stuck: { at: 7, rule: 'fruitless' },
  },
  {
    name: 'the same error with other inputs',
    calls: times(6, (n) => fails('open_drawer', { name: DRAWERS[n - 1] ?? '' }, 'Error: the drawer is locked')),
    stuck: { at: 4, rule: 'same_error' },
  },
  {
    name: 'pages of a list that are all different',
    calls: times(9, (n) =>
      works('list_page', { page: String(n) }, `${DRAWERS[n - 1]} are on page ${n}, with weight ${n * 7}`),
    ),
    stuck: null,
  },
];
