import { type HttpOptions, openDoor } from './http/door.ts';
import { runsOverHttp } from './http/runs-over-http.ts';
import { runsOverTemporal, type TemporalRuns } from './runs-over-temporal.ts';
import type { Runs } from './runs.ts';

/** `{ url, token }` of a running API, or a client of `createRunsClient` that talks to Temporal itself. */
export type ClientOptions = HttpOptions | { temporal: TemporalRuns };

export interface SecondwindClient {
  runs: Runs;
}

/** The typed client: the same calls, types and errors whichever way they go. */
export const createClient = (options: ClientOptions): SecondwindClient => ({
  runs: 'temporal' in options ? runsOverTemporal(options.temporal) : runsOverHttp(openDoor(options)),
});
