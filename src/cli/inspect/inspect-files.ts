import { anonymize, type FileReport } from '../../core/inspect/report.ts';
import { mergePolicy } from '../../core/policy/merge-policy.ts';
import { SecondwindError } from '../../protocol/errors.ts';
import { readPolicy } from '../read-input.ts';
import { findTranscripts } from './find-transcripts.ts';
import { inspectFile } from './inspect-file.ts';

interface Settings {
  anonymous?: boolean;
  failOn?: string;
  policy?: string;
  price?: string;
}

const badUsage = (what: string, hint: string): SecondwindError => new SecondwindError('bad_usage', what, hint);

const readPrice = (price: string | undefined): number | undefined => {
  if (price === undefined) return undefined;
  const value = Number(price);
  if (price.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw badUsage(`--price ${price} is invalid: expected a number of dollars.`, 'For example: --price 15');
};

/** Inspects files and folders one after the other. A file that cannot be opened is named, and the others are still read. */
export const inspectFiles = async (
  files: readonly string[],
  settings: Settings,
): Promise<{ reports: FileReport[]; mode: string | null; unreadable: string[] }> => {
  const { failOn } = settings;
  if (failOn !== undefined && failOn !== 'stuck' && failOn !== 'suspect') {
    throw badUsage(`--fail-on ${failOn} is invalid: expected suspect or stuck.`, 'For example: --fail-on stuck');
  }
  const usdPerMillion = readPrice(settings.price);
  const policy = mergePolicy(settings.policy === undefined ? undefined : await readPolicy(settings.policy));
  const reports: FileReport[] = [];
  const unreadable: string[] = [];
  for (const file of await findTranscripts(files)) {
    try {
      reports.push(await inspectFile(file, policy.loops, usdPerMillion));
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      unreadable.push(`${file} cannot be read (${String(error.code)}). Correct the path.`);
    }
  }
  const shown = settings.anonymous === true ? anonymize(reports) : reports;
  return { reports: shown, mode: settings.policy === undefined ? null : policy.mode, unreadable };
};
