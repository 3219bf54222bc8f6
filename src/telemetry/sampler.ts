import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/**
 * Reads `OTEL_TRACES_SAMPLER` and its argument as specified. Default: follow the parent's decision, else sample
 * everything.
 */
export function readSampler(env: Record<string, string | undefined>): Sampler {
  const named = env['OTEL_TRACES_SAMPLER']?.trim().toLowerCase() ?? '';
  const root = rootSampler(named.replace(/^parentbased_/, ''), env['OTEL_TRACES_SAMPLER_ARG']);
  const followsParent =
    named.startsWith('parentbased_') || !['always_on', 'always_off', 'traceidratio'].includes(named);
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, argument: string | undefined): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler();
  const ratio = Number(argument?.trim() || '1');
  const isRatio = name === 'traceidratio' && ratio >= 0 && ratio <= 1;
  return isRatio ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
}
