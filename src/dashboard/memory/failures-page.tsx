import { useEffect } from 'react';
import type { KnownFailure } from '../../protocol/known-failures.ts';
import type { FailureRecord } from '../../protocol/schemas/failure-record.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { Inline, visibleText } from '../parts/text.tsx';
import { Ago, useNow } from '../parts/times.tsx';
import { Link, setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { splitIgnored } from './ignored-parts.ts';
import { SearchHead } from './search-head.tsx';
import { SparkLine } from './spark-line.tsx';
import '../style/memory.css';

/** Failures of all runs, one row per fingerprint. */
export default function FailuresPage() {
  const { client } = useSession();
  const { query } = usePlace();
  const now = useNow(true, 30_000);
  const search = query.get('q') ?? '';
  const asked = useAsked(
    async (signal) => {
      const options = { query: { limit: 200, ...(search !== '' && { q: search }) }, signal };
      const { body } = await client.api.ask<{ known_failures: KnownFailure[] }>('GET', '/v1/known-failures', options);
      return body.known_failures;
    },
    [client, search],
  );
  const open = query.get('fingerprint') ?? '';
  useEffect(() => {
    document.title = 'Known failures · Secondwind';
  }, []);
  const rows = asked.data ?? [];
  return (
    <main>
      <SearchHead
        title="Known failures"
        status={asked.data === undefined ? '' : `${rows.length} fingerprints in the last 30 days`}
        label="Search failures"
        placeholder="Search tool, code, message or agent"
      />
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {asked.data?.length === 0 && search !== '' && (
        <div className="card empty">
          <h2>No such failure</h2>
          <p className="soft">
            No failure of the last 30 days has these words in its message, tool, code or agent. Try fewer words.
          </p>
        </div>
      )}
      {asked.data?.length === 0 && search === '' && (
        <div className="card empty">
          <h2>Nothing has failed yet</h2>
          <p className="soft">
            Each failed attempt is recorded once. Failures with the same cause have the same fingerprint and one row
            here.
          </p>
        </div>
      )}
      <ul className="stack" aria-label="Known failures">
        {rows.map((known) => (
          <li key={known.fingerprint} className="card known">
            <button
              type="button"
              className="known-head"
              aria-expanded={open === known.fingerprint}
              onClick={() => setQuery({ fingerprint: open === known.fingerprint ? '' : known.fingerprint })}
            >
              <span className="known-name">
                <strong>
                  <Inline text={nameOf(known)} max={120} />
                </strong>
                <span className="small soft cut">
                  <Inline text={known.message_preview ?? ''} max={200} />
                </span>
                <span className="small faint cut">{known.agents.join(', ')}</span>
              </span>
              <SparkLine days={known.days} now={now} />
              <Figure name="failures" value={String(known.occurrence_count)} />
              <Figure name="runs" value={String(known.run_count)} />
              <span className="known-seen small">
                <span
                  className={`badge ${known.status === 'active' ? 'bad' : 'good'}`}
                  data-mark={known.status === 'active' ? '●' : '✓'}
                >
                  {known.status}
                </span>
                <span className="faint">
                  <Ago iso={known.last_seen} now={now} />
                </span>
              </span>
            </button>
            {known.lesson !== null && (
              <p className="known-lesson small">
                <strong>Lesson</strong> <Inline text={known.lesson.content} max={300} />{' '}
                <span className="faint">{beforeAfter(known.lesson)}</span>
              </p>
            )}
            {open === known.fingerprint && <Samples known={known} now={now} />}
          </li>
        ))}
      </ul>
    </main>
  );
}

const nameOf = ({ signal_type, tool_name, error_code }: KnownFailure): string =>
  [signal_type.replaceAll('_', ' '), tool_name, error_code].filter(Boolean).join(' · ');

function beforeAfter({
  per_run_before,
  per_run_after,
  runs_before,
  runs_after,
}: NonNullable<KnownFailure['lesson']>): string {
  const side = (value: number | null, runs: number): string =>
    value === null ? 'no run' : `${value.toFixed(1)} (n = ${runs})`;
  return `failures in a run that met it: ${side(per_run_before, runs_before)} before, ${side(per_run_after, runs_after)} after`;
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <span className="figure">
    <strong>{value}</strong>
    <span className="small faint">{name}</span>
  </span>
);

/** Two samples side by side. What the fingerprint ignores is grey: the rest is why these are the same. */
function Samples({ known, now }: { known: KnownFailure; now: number }) {
  const { client } = useSession();
  const asked = useAsked(
    async (signal) => {
      const options = { query: { fingerprint: known.fingerprint }, signal };
      type Answer = { samples: FailureRecord[] };
      return (await client.api.ask<Answer>('GET', '/v1/known-failures/samples', options)).body.samples;
    },
    [client, known.fingerprint],
  );
  const [latest] = asked.data ?? [];
  // The oldest one differs most likely from the latest.
  const other = asked.data?.at(-1);
  return (
    <section className="samples" aria-label="Samples">
      <h2>Why are these the same?</h2>
      <p className="small soft">
        Signal, tool and error code are equal, and so is the message without its grey parts: times, ids, addresses and
        numbers that differ each time. <code>{known.fingerprint}</code>
      </p>
      {asked.error !== undefined && <ProblemNotice error={asked.error} />}
      <div className="sample-pair">
        {latest !== undefined && <Sample record={latest} now={now} />}
        {other !== undefined && other !== latest && <Sample record={other} now={now} />}
      </div>
      <p className="small faint">
        First seen {new Date(known.first_seen).toLocaleString()}, last seen {new Date(known.last_seen).toLocaleString()}
        .
      </p>
    </section>
  );
}

const Sample = ({ record, now }: { record: FailureRecord; now: number }) => (
  <figure className="sample">
    <figcaption className="small soft">
      <Link to={`/runs/${encodeURIComponent(record.run_id)}`}>{record.run_id}</Link> · step {record.step_id} ·{' '}
      <Ago iso={record.created_at} now={now} />
    </figcaption>
    <pre className="text-block" tabIndex={0} role="region" aria-label={`Message in ${record.run_id}`}>
      {splitIgnored(record.observed_outcome.message_preview ?? record.observed_outcome.kind).map((part, index) =>
        part.isIgnored ? (
          // Parts of one text have no other name than their place.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} className="ignored" title="The fingerprint ignores this part">
            {visibleText(part.text)}
          </span>
        ) : (
          visibleText(part.text)
        ),
      )}
    </pre>
  </figure>
);
