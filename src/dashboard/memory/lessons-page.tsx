import { type ReactNode, useEffect, useState } from 'react';
import { ProblemNotice } from '../parts/problem.tsx';
import { setQuery, usePlace } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';
import { type Lesson, LessonCard, type LessonStatus } from './lesson-card.tsx';
import { SearchHead } from './search-head.tsx';
import '../style/memory.css';

const PAGE = 50;

const SECTIONS: [LessonStatus, string, string][] = [
  ['proven', 'Proven', 'Their trial showed that they help. One run in ten still does without, to keep measuring.'],
  ['candidate', 'Candidates', 'On probation: half of the matching runs see them, the other half does not.'],
  ['quarantined', 'Quarantined', 'Their trial showed that they harm. No run sees them.'],
  ['superseded', 'Superseded', 'The schema of their tool has changed. No run sees them until they are learnt again.'],
];

interface LessonList {
  lessons: Lesson[];
  hasMore: boolean;
}

/** What the runs have learnt, and whether it helps. */
export default function LessonsPage() {
  const { client } = useSession();
  const { query } = usePlace();
  const [pages, setPages] = useState(1);
  const search = query.get('q') ?? '';
  const isRetired = query.get('show') === 'retired';
  const linked = query.get('lesson') ?? '';
  const asked = useAsked(
    async (signal): Promise<LessonList> => {
      const lessons: Lesson[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page += 1) {
        const options = {
          query: { limit: PAGE, q: search || undefined, retired: String(isRetired), cursor },
          signal,
        };
        const { body } = await client.api.ask<Answer>('GET', '/v1/reflections', options);
        lessons.push(...body.reflections);
        cursor = body.next_cursor;
      }
      return { lessons, hasMore: cursor !== undefined };
    },
    [client, search, isRetired, pages],
  );
  useEffect(() => {
    document.title = 'Lessons · Secondwind';
  }, []);
  const { lessons = [], hasMore = false } = asked.data ?? {};
  const isEmpty = asked.data !== undefined && lessons.length === 0;
  const isLinkedElsewhere =
    linked !== '' && asked.data !== undefined && !lessons.some(({ id }) => String(id) === linked);
  return (
    <main>
      <SearchHead
        title="Lessons"
        status={asked.data === undefined ? '' : countText(lessons.length, hasMore, isRetired)}
        label="Search lessons"
        placeholder="Search the lesson, its error, tool or code"
      >
        <select
          className="input"
          aria-label="Which lessons"
          value={isRetired ? 'retired' : ''}
          onChange={(event) => setQuery({ show: event.target.value, lesson: '' })}
        >
          <option value="">In use</option>
          <option value="retired">Retired</option>
        </select>
      </SearchHead>
      {asked.error !== undefined && <ProblemNotice error={asked.error} onRetry={asked.reload} />}
      {isLinkedElsewhere && <LinkedLesson id={linked} />}
      {isEmpty && <NoLessons isRetired={isRetired} isSearch={search !== ''} />}
      {isRetired && lessons.length > 0 && (
        <Section title="Retired" meaning="A person retired them. No run sees them until they are restored.">
          {lessons.map((lesson) => (
            <LessonCard key={lesson.id} lesson={lesson} />
          ))}
        </Section>
      )}
      {!isRetired &&
        SECTIONS.map(([status, title, meaning]) => {
          const own = lessons.filter((lesson) => lesson.status === status);
          return own.length === 0 ? null : (
            <Section key={status} title={title} count={own.length} meaning={meaning}>
              {own.map((lesson) => (
                <LessonCard key={lesson.id} lesson={lesson} />
              ))}
            </Section>
          );
        })}
      {hasMore && (
        <button className="button" type="button" onClick={() => setPages(pages + 1)}>
          Show older lessons
        </button>
      )}
    </main>
  );
}

interface Answer {
  reflections: Lesson[];
  next_cursor?: string;
}

const countText = (count: number, hasMore: boolean, isRetired: boolean): string =>
  `${count}${hasMore ? '+' : ''}${isRetired ? ' retired' : ''} ${count === 1 ? 'lesson' : 'lessons'}`;

interface SectionProps {
  title: string;
  count?: number;
  meaning: string;
  children: ReactNode;
}

const Section = ({ title, count, meaning, children }: SectionProps) => (
  <section className="lesson-section" aria-label={title}>
    <h2>
      {title} {count !== undefined && <span className="faint">{count}</span>}
    </h2>
    <p className="small soft">{meaning}</p>
    <ul className="stack">{children}</ul>
  </section>
);

/** The lesson of a link, which the list does not show because of its filter or its age. */
function LinkedLesson({ id }: { id: string }) {
  const { client } = useSession();
  const asked = useAsked(
    async (signal) =>
      (await client.api.ask<Lesson>('GET', `/v1/reflections/${encodeURIComponent(id)}`, { signal })).body,
    [client, id],
  );
  if (asked.error !== undefined) return <ProblemNotice error={asked.error} />;
  if (asked.data === undefined) return null;
  return (
    <Section title={`Lesson ${id}`} meaning="The link that you opened leads to this lesson.">
      <LessonCard lesson={asked.data} />
    </Section>
  );
}

function NoLessons({ isRetired, isSearch }: { isRetired: boolean; isSearch: boolean }) {
  if (isSearch || isRetired) {
    return (
      <div className="card empty">
        <h2>{isSearch ? 'No such lesson' : 'No retired lessons'}</h2>
        {isSearch && (
          <p className="soft">
            No lesson has these words, and none was learnt from an error that has. Try fewer words.
          </p>
        )}
        <p>
          <button className="button" type="button" onClick={() => setQuery({ q: '', show: '' })}>
            Show the lessons in use
          </button>
        </p>
      </div>
    );
  }
  return (
    <div className="card empty">
      <h2>No lessons yet</h2>
      <p className="soft">
        A lesson is what a failure taught and what worked. It is stored when an attempt succeeds after one that failed,
        and shown to later runs that fail in the same way.
      </p>
    </div>
  );
}
