import { type FormEvent, useState } from 'react';

/** Shown without a valid token. It shows no data. */
export function SignIn({ reason, onToken }: { reason: string | undefined; onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (token.trim() !== '') onToken(token.trim());
  };
  return (
    <main className="sign-in">
      <form className="card stack" onSubmit={submit}>
        <h1>Sign in to Secondwind</h1>
        {reason !== undefined && (
          <p className="notice bad" role="alert">
            {reason}
          </p>
        )}
        <p className="soft">
          Open the link that <code>secondwind dev</code> prints, or enter a token. The token of a local stack is in the
          file &quot;token&quot; of its data folder.
        </p>
        <label className="field">
          <span>Token</span>
          <input
            className="input mono"
            type="password"
            autoComplete="off"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <div>
          <button className="button main" type="submit">
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}
