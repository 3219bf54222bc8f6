import type { Stack } from '../../stack/start-stack.ts';

export interface ReadyNews {
  agents: string[];
  url: string;
  token: string;
  tokenFile: string | null;
  logPath: string;
  stack: Pick<Stack, 'temporalAddress' | 'uiUrl' | 'dataDir' | 'searchAttributes'>;
}

/** The lines that `dev` prints when it is ready. Programs wait for the last one. */
export function readyLines(news: ReadyNews, ms: number, hint: boolean): string[] {
  const { url, token, stack } = news;
  const curl = `curl -s ${url}/v1/runs -H 'Authorization: Bearer ${token}' -d '{"agent":"${news.agents.at(-1)}","goal":"try it"}'`;
  return [
    `  Dashboard    ${url}/#token=${token}`,
    `  API          ${url} (described at ${url}/docs)`,
    `  Temporal     ${stack.temporalAddress}`,
    ...(stack.uiUrl === undefined ? [] : [`  Temporal UI  ${stack.uiUrl}`]),
    `  Data folder  ${stack.dataDir}${news.tokenFile === null ? '' : ' (the token is in its file "token")'}`,
    `  Log          ${news.logPath}`,
    `  Agents       ${news.agents.join(', ')}`,
    ...(stack.searchAttributes
      ? []
      : [
          '  Runs can only be listed without filters: this Temporal does not have the search attributes of Secondwind.',
        ]),
    '',
    'Start a run:',
    `  ${curl}`,
    ...(hint ? ['See what happens when things fail:', '  npm run demo'] : []),
    '',
    `Ready ${(ms / 1000).toFixed(1)} s after the start. Ctrl-C stops everything.`,
    `ready ${url}`,
  ];
}

/** The same as one JSON line. It names the file of the token and not the token, because such lines end up in logs. */
export function readyJson(news: ReadyNews, ms: number): string {
  return JSON.stringify({
    event: 'ready',
    url: news.url,
    ms: Math.round(ms),
    token_file: news.tokenFile,
    temporal_address: news.stack.temporalAddress,
    temporal_ui: news.stack.uiUrl ?? null,
    data_dir: news.stack.dataDir,
    log: news.logPath,
    agents: news.agents,
  });
}
