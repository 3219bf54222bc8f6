import { SecondwindError } from '../../protocol/errors.ts';

/** What went wrong, and what to do next. */
export function ProblemNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { message, nextStep } =
    error instanceof SecondwindError ? error : { message: String(error), nextStep: 'Load the page again.' };
  return (
    <div className="notice bad" role="alert">
      <strong>{message}</strong> {nextStep}
      {onRetry && (
        <>
          {' '}
          <button className="button small" type="button" onClick={onRetry}>
            Try again
          </button>
        </>
      )}
    </div>
  );
}
