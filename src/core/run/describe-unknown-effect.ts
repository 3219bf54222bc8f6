import { isInfrastructure } from '../retry/strategies.ts';
import type { CallFailed } from '../../protocol/tools.ts';

/**
 * Says how a side effect failed whose outcome is unknown. A call that answered is quoted, because its words help a
 * person to find out whether the effect happened.
 */
export function describeUnknownEffect(failure: CallFailed): string {
  const { category, error_code, message_preview } = failure;
  const said = message_preview.trim().replace(/[.;:!?]$/, '');
  const gaveNoAnswer = isInfrastructure(category) || said === '';
  const how = gaveNoAnswer ? `was started and gave no answer (${error_code})` : `failed with: ${said}`;
  return `${how}; it is not known whether its effect happened`;
}
