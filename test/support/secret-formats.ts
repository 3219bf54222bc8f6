/**
 * Made-up secrets in every format that the rules know. They are put together here, when a test runs, so that no scanner of
 * repositories takes this file for a leak. `secret` is the part that nobody may read; `text` is how it stands in a text.
 */
export interface SecretFormat {
  /** The rule that takes it out. */
  rule: string;
  text: string;
  secret: string;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ANY = LOWER + LOWER.toUpperCase() + DIGITS;
/** The same characters for the same seed and length, by a linear congruential generator. */
function from(alphabet: string, length: number, seed: number): string {
  let state = (seed * 7_919 + 12_345) % 2_147_483_648;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet[Math.floor(state / 65_536) % alphabet.length];
  }).join('');
}

/** Every format, its random parts made from `seed`. */
export function secretFormats(seed = 1): SecretFormat[] {
  // No two of them share a part, so that one that is seen does not look like another.
  let made = seed * 1_000;
  const next = (): number => (made += 1);
  const any = (length: number): string => `a1B${from(ANY, length - 3, next())}`;
  const hex = (length: number): string => `a1${from('0123456789abcdef', length - 2, next())}`;
  const upper = (length: number): string => `A1${from(LOWER.toUpperCase() + DIGITS, length - 2, next())}`;
  const lower = (length: number): string => `a1${from(LOWER + DIGITS, length - 2, next())}`;
  const digits = (length: number): string => from(DIGITS, length, next());
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  const base64 = (length: number): string => `${any(length - 1)}=`;
  const lines = (separator: string): string => [any(64), any(64), base64(40)].join(separator);
  const password = (): string => `Tr0ub4dor-${any(8)}`;
  const formats: SecretFormat[] = [];
  const alone = (rule: string, secret: string): void => void formats.push({ rule, text: secret, secret });
  const within = (rule: string, before: string, secret: string, after = ''): void =>
    void formats.push({ rule, text: before + secret + after, secret });

  alone('github_token', `ghp_${any(36)}`);
  alone('github_token', `ghs_${any(36)}`);
  alone('github_pat', `github_pat_${any(22)}_${any(59)}`);
  alone('gitlab_pat', `glpat-${any(20)}`);
  alone('gitlab_deploy_token', `gldt-${any(20)}`);
  alone('gitlab_runner_token', `glrt-${any(20)}`);
  alone('gitlab_runner_registration', `GR1348941${any(20)}`);
  alone('gitlab_ci_token', `glcbt-${any(26)}`);
  alone('gitlab_trigger_token', `glptt-${hex(40)}`);
  alone('gitlab_token', `glagent-${any(50)}`);
  alone('bitbucket_token', `ATBB${any(32)}`);
  alone('atlassian_token', `ATATT3${any(180)}`);
  alone('npm_token', `npm_${any(36)}`);
  alone('pypi_token', `pypi-AgEIcHlwaS5vcmc${any(60)}`);
  alone('rubygems_key', `rubygems_${hex(48)}`);
  alone('crates_token', `cio${any(32)}`);
  alone('nuget_key', `oy2${lower(43)}`);
  alone('clojars_token', `CLOJARS_${lower(60)}`);
  alone('docker_token', `dckr_pat_${any(27)}`);
  alone('artifactory_key', `AKC${any(70)}`);
  alone('artifactory_reference', `cmVmdGtu${any(56)}`);
  alone('sourcegraph_token', `sgp_${hex(40)}`);
  alone('postman_key', `PMAK-${hex(24)}-${hex(34)}`);
  alone('sonar_token', `squ_${hex(40)}`);
  alone('aws_key', `AKIA${upper(16)}`);
  alone('aws_key', `ASIA${upper(16)}`);
  alone('aws_bedrock_key', `ABSK${any(110)}`);
  alone('aws_mws_key', `amzn.mws.${uuid()}`);
  alone('google_key', `AIza${any(35)}`);
  alone('google_oauth_token', `ya29.${any(60)}`);
  alone('google_refresh_token', `1//0${any(60)}`);
  alone('google_client_secret', `GOCSPX-${any(28)}`);
  alone('firebase_key', `AAAA${any(7)}:${any(140)}`);
  alone('azure_client_secret', `${any(3)}8Q~${any(34)}`);
  alone('azure_devops_pat', `${any(76)}AZDO${any(4)}`);
  alone('digitalocean_token', `dop_v1_${hex(64)}`);
  alone('alibaba_key', `LTAI${any(20)}`);
  alone('tencent_key', `AKID${any(32)}`);
  alone('yandex_key', `AQVN${any(36)}`);
  alone('cloudflare_origin_key', `v1.0-${hex(24)}-${hex(146)}`);
  alone('heroku_key', `HRKU-${uuid()}`);
  alone('fly_token', `fm2_${any(120)}`);
  alone('netlify_token', `nfp_${any(36)}`);
  alone('vercel_token', `vercel_blob_rw_${any(16)}_${any(30)}`);
  alone('render_key', `rnd_${any(28)}`);
  alone('supabase_token', `sbp_${hex(40)}`);
  alone('planetscale_token', `pscale_tkn_${any(43)}`);
  alone('databricks_token', `dapi${hex(32)}`);
  alone('vault_token', `hvs.${any(90)}`);
  alone('terraform_token', `${any(14)}.atlasv1.${any(67)}`);
  alone('pulumi_token', `pul-${hex(40)}`);
  alone('doppler_token', `dp.pt.${any(43)}`);
  alone('tailscale_key', `tskey-auth-${any(17)}-${any(32)}`);
  alone('onepassword_token', `ops_eyJ${any(250)}`);
  alone('onepassword_key', `A3-${upper(6)}-${upper(11)}-${upper(5)}-${upper(5)}-${upper(5)}`);
  alone('age_key', `AGE-SECRET-KEY-1${upper(58)}`);
  alone('circleci_token', `CCIPAT_${any(22)}_${hex(40)}`);
  alone('buildkite_token', `bkua_${hex(40)}`);
  alone('launchdarkly_key', `sdk-${uuid()}`);
  alone('openai_key', `sk-proj-${any(120)}`);
  alone('anthropic_key', `sk-ant-api03-${any(90)}`);
  alone('openrouter_key', `sk-or-v1-${hex(64)}`);
  alone('provider_key', `sk-${any(48)}`);
  alone('huggingface_token', `hf_${any(34)}`);
  alone('replicate_token', `r8_${any(37)}`);
  alone('groq_key', `gsk_${any(52)}`);
  alone('perplexity_key', `pplx-${any(48)}`);
  alone('xai_key', `xai-${any(80)}`);
  alone('nvidia_key', `nvapi-${any(64)}`);
  alone('cerebras_key', `csk-${lower(48)}`);
  alone('langsmith_key', `lsv2_pt_${hex(32)}_${hex(10)}`);
  alone('pinecone_key', `pcsk_${any(60)}`);
  alone('tavily_key', `tvly-dev-${any(32)}`);
  alone('e2b_key', `e2b_${hex(40)}`);
  alone('elevenlabs_key', `sk_${hex(48)}`);
  alone('slack_token', `xoxb-${digits(12)}-${digits(12)}-${any(24)}`);
  alone('slack_app_token', `xapp-1-${upper(11)}-${digits(13)}-${lower(64)}`);
  alone('slack_webhook', `hooks.slack.com/services/T${upper(10)}/B${upper(10)}/${any(24)}`);
  alone('discord_token', `MT${any(24)}.G${any(5)}.${any(38)}`);
  alone('discord_webhook', `discord.com/api/webhooks/1${digits(18)}/${any(68)}`);
  alone('teams_webhook', `acme.webhook.office.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/${hex(32)}/${uuid()}`);
  alone('telegram_token', `1${digits(9)}:AA${any(33)}`);
  alone('stripe_key', `sk_live_${any(24)}`);
  alone('stripe_key', `rk_test_${any(24)}`);
  alone('webhook_secret', `whsec_${any(32)}`);
  alone('square_token', `EAAA${any(60)}`);
  alone('shopify_token', `shpat_${hex(32)}`);
  alone('plaid_token', `access-production-${uuid()}`);
  alone('flutterwave_key', `FLWSECK-${lower(32)}-X`);
  alone('easypost_key', `EZAK${any(54)}`);
  alone('duffel_token', `duffel_live_${any(43)}`);
  alone('twilio_key', `SK${hex(32)}`);
  alone('sendgrid_key', `SG.${any(22)}.${any(43)}`);
  alone('mailgun_key', `key-${hex(32)}`);
  alone('mailchimp_key', `${hex(32)}-us12`);
  alone('brevo_key', `xkeysib-${hex(64)}-${any(16)}`);
  alone('hubspot_token', `pat-na1-${uuid()}`);
  alone('linear_key', `lin_api_${any(40)}`);
  alone('notion_token', `ntn_${any(46)}`);
  alone('notion_token', `secret_${any(43)}`);
  alone('figma_token', `figd_${any(40)}`);
  alone('airtable_token', `pat${any(14)}.${hex(64)}`);
  alone('asana_token', `1/${digits(16)}:${hex(32)}`);
  alone('typeform_token', `tfp_${any(59)}`);
  alone('contentful_token', `CFPAT-${any(43)}`);
  alone('readme_key', `rdme_${lower(70)}`);
  alone('mapbox_token', `sk.eyJ${any(80)}.${any(22)}`);
  alone('grafana_token', `glsa_${any(32)}_${hex(8)}`);
  alone('grafana_token', `glc_${any(80)}`);
  alone('sentry_token', `sntryu_${hex(64)}`);
  alone('newrelic_key', `NRAK-${upper(27)}`);
  alone('dynatrace_token', `dt0c01.${upper(24)}.${upper(64)}`);
  alone('jwt', `eyJ${any(33)}.eyJ${any(40)}.${any(43)}`);

  const pem = (kind: string, separator: string): [string, string] => [
    `-----BEGIN ${kind}PRIVATE KEY-----${separator}`,
    `${separator}-----END ${kind}PRIVATE KEY-----`,
  ];
  const pemOf = (kind: string, separator: string): void => {
    const [begin, end] = pem(kind, separator);
    within('private_key', begin, lines(separator), end);
  };
  pemOf('RSA ', '\n');
  pemOf('OPENSSH ', '\r\n');
  pemOf('', String.raw`\n`);
  within(
    'private_key',
    `{"private_key_id":"x","private_key":"${pem('', String.raw`\n`)[0]}`,
    lines(String.raw`\n`),
    `${pem('', String.raw`\n`)[1]}"}`,
  );
  within('private_key', pem('EC ', '\n')[0], `${any(64)}\n${any(40)}`, ' cut here');
  within('private_key', 'cut: ', `${any(64)}\n${any(64)}`, pem('', '\n')[1]);
  within('putty_key', 'Private-Lines: 2\n', `${any(64)}\n${any(64)}`);

  within('authorization', 'authorization: bearer ', any(40));
  within('authorization', 'Proxy-Authorization: Basic ', base64(24));
  within('authorization', '"Authorization": "Token token=', any(20), '"');
  within('bearer', 'sent with bearer ', any(32));
  within('basic', 'curl said basic ', base64(24));
  within('url_password', 'redis://:', password(), '@cache:6379/0');
  within('url_password', 'postgres://app:', `p@ss/${any(8)}:x#1`, '@db.internal:5432/app');
  within('url_password', 'mongodb+srv://app:', password(), '@cluster0.abcde.mongodb.net/?retryWrites=true');
  within('url_password', 'amqp://app:', password(), '@mq:5672/vhost');
  within('url_password', 'https://me:', 'p%40ss%2Fw0rd', '@git.internal/repo.git');
  within('url_token', 'https://', any(40), '@git.internal/repo.git');
  within('jdbc_password', 'jdbc:oracle:thin:scott/', password(), '@//db:1521/orcl');
  within(
    'azure_account_key',
    'DefaultEndpointsProtocol=https;AccountName=x;AccountKey=',
    base64(88),
    ';EndpointSuffix=core.windows.net',
  );
  within(
    'azure_account_key',
    'Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=',
    base64(44),
  );
  within('azure_sas', 'https://x.blob.core.windows.net/c?sv=2022-11-02&sig=', `${any(40)}%3D`);
  within('signed_url', 'https://b.s3.amazonaws.com/k?X-Amz-Signature=', hex(64));
  within('cookie', 'Cookie: theme=dark-one; ', `sid=${any(32)}`);
  within('cookie', 'Set-Cookie: session=', any(40), '; HttpOnly');
  within('session_cookie', 'seen with connect.sid=', `s%3A${any(32)}`);
  within('netrc', 'machine git.internal login me password ', password());
  within('pgpass', 'db.internal:5432:app:me:', password());
  within('password_hash', 'me:', `$apr1$${any(8)}$${any(22)}`);
  within('password_hash', 'me:', `$2y$10$${any(53)}`);
  within('command_password', 'curl -u me:', password(), ' https://api.internal');
  within('command_password', 'deploy --token ', any(24));
  within('wireguard_key', 'PrivateKey = ', base64(44));
  within('kubernetes_secret', 'apiVersion: v1\nkind: Secret\ndata:\n  db: ', base64(24), '\ntype: Opaque');
  within('kubernetes_secret', '{"kind":"Secret","data":{"db":"', base64(24), '"}}');

  within('assignment', '//npm.example.com/:_authToken=', any(36));
  within('assignment', 'PGPASSWORD=', password());
  within('assignment', 'export POSTGRES_PASSWORD=', password());
  within('assignment', 'aws_secret_access_key = ', any(40));
  within('assignment', 'AWS_SESSION_TOKEN=', any(120));
  within('assignment', 'DD_API_KEY=', hex(32));
  within('assignment', 'PAGERDUTY_TOKEN=', any(20));
  within('assignment', 'HEROKU_API_KEY=', uuid());
  within('assignment', 'CLOUDFLARE_API_TOKEN=', any(40));
  within('assignment', '{"clientSecret": "', any(32), '"}');
  within('assignment', "const apiKey = '", any(32), "';");
  within('assignment', 'accessToken: "', any(32), '"');
  within('assignment', 'password: ', password());
  within('assignment', 'X-API-Key: ', any(32));
  within('assignment', 'Server=db;User Id=me;Password=', password(), ';Encrypt=true');
  within('assignment', 'jdbc:postgresql://db/app?user=me&password=', password(), '&ssl=true');
  within('assignment', 'https://api.internal/v1?access_token=', any(32), '&page=2');
  within('assignment', String.raw`"{\"refresh_token\":\"`, any(40), String.raw`\"}"`);
  within('nested', '{"password": {"value": "', password(), '"}}');
  return formats;
}

/** A value that a process holds as a secret, in the six spellings in which it is known. */
export const spellings = (value: string): Record<string, string> => ({
  plain: value,
  base64: Buffer.from(value).toString('base64'),
  base64url: Buffer.from(value).toString('base64url'),
  hex: Buffer.from(value).toString('hex'),
  url: encodeURIComponent(value),
  json: JSON.stringify(value).slice(1, -1),
});
