import { Inline } from '../parts/text.tsx';
import { Link } from '../shell/router.tsx';
import { useSession } from '../shell/session.ts';
import { useAsked } from '../shell/use-asked.ts';

interface KnownLesson {
  id: number;
  content: string;
}

/** The lessons that came of a failure, if there are any. */
export function LessonsOf({ fingerprint }: { fingerprint: string }) {
  const { client } = useSession();
  const lessons = useAsked(
    async (signal) => {
      const query = { fingerprint };
      const asked = await client.api.ask<{ reflections: KnownLesson[] }>('GET', '/v1/reflections', { query, signal });
      return asked.body.reflections;
    },
    [client, fingerprint],
  );
  if (lessons.data === undefined || lessons.data.length === 0) return null;
  return (
    <>
      <h3>Lesson that came of it</h3>
      <ul>
        {lessons.data.map((lesson) => (
          <li key={lesson.id} className="notice">
            <Inline text={lesson.content} max={2_000} /> <Link to={`/lessons?lesson=${lesson.id}`}>Evidence</Link>
          </li>
        ))}
      </ul>
    </>
  );
}
