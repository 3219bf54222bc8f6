import type { FailureItem, ProjectedStep } from '../../client/views.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { stateWord } from '../parts/state-badge.tsx';
import { visibleText } from '../parts/text.tsx';
import { type Mark, type RunModel, sentenceOf } from './run-model.ts';

export interface SharedRun {
  status: RunStatus;
  model: RunModel;
  steps: ProjectedStep[];
  failures: FailureItem[];
}

/**
 * Writes a run as one HTML file without scripts and without addresses, which can be sent to somebody who has no access. It contains
 * only what the API answered, and every answer of the API is redacted.
 */
export function shareHtml({ status, model, steps, failures }: SharedRun): string {
  const { used } = status.budget;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(status.goal || status.run_id)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="soft">${escaped(status.agent)} · ${escaped(status.run_id)} · <b>${stateWord(status.state, status.outcome)}</b></p>
<h1>${escaped(status.goal || 'no goal')}</h1>
<p class="why">${escaped(status.why)}</p>
<p>${used.attempts} of ${status.bound?.attempts ?? 'unlimited'} attempts · $${(used.cost_micro_usd / 1e6).toFixed(4)} · started
${escaped(status.started_at)}</p>
<h2>Attempts</h2>
${model.passes
  .map(
    (pass, index) =>
      `<p><span class="soft">pass ${index + 1}</span> ${pass.marks
        .map((mark) => squareHtml(mark, model))
        .join(' ')}</p>`,
  )
  .join('\n')}
<ul>${model.failures
    .map((known) => `<li><b class="square failed">${known.letter}</b> ${escaped(known.name)} ×${known.count}</li>`)
    .join('')}</ul>
<h2>Steps</h2>
${steps.map(stepHtml).join('\n')}
<h2>Failures</h2>
${failures.length === 0 ? '<p>None.</p>' : failures.map(failureHtml).join('\n')}
${status.result ? `<h2>Result</h2><pre>${escaped(JSON.stringify(status.result.output, null, 2))}</pre>` : ''}
<p class="soft">Written by Secondwind at ${escaped(new Date().toISOString())}. Secrets are replaced by [redacted].</p>
</main>
</body>
</html>
`;
}

function squareHtml(mark: Mark, model: RunModel): string {
  const known = model.failures.find(({ fingerprint }) => mark.kind === 'attempt' && mark.fingerprint === fingerprint);
  const title = `title="${escaped(sentenceOf(mark, known?.letter).slice(0, 300))}"`;
  switch (mark.kind) {
    case 'guidance':
      return `<span ${title}>◆</span>`;
    case 'wait':
      return `<span class="soft" ${title}>◇</span>`;
    case 'question':
      return `<b class="square" ${title}>?</b>`;
    case 'attempt': {
      const sign = mark.isWorkerLost
        ? '⌁'
        : mark.outcome === 'failed'
          ? (known?.letter ?? '✕')
          : mark.outcome === 'ok'
            ? '✓'
            : '–';
      return `<b class="square ${mark.outcome}" ${title}>${sign}</b>`;
    }
  }
}

const stepHtml = (step: ProjectedStep): string => `<details>
<summary>${step.step_id} ${escaped(step.tool)} <span class="soft">${escaped(step.phase)}, ${step.attempts.length}
${step.attempts.length === 1 ? 'attempt' : 'attempts'}</span></summary>
<pre>${escaped(JSON.stringify(step.input, null, 2))}</pre>
${step.attempts
  .flatMap(({ attempt, output }) =>
    output === undefined
      ? []
      : [`<p>Output of attempt ${attempt}</p><pre>${escaped(JSON.stringify(output, null, 2))}</pre>`],
  )
  .join('\n')}
</details>`;

const failureHtml = (failure: FailureItem): string =>
  `<p>Step ${failure.step_id}: <code>${escaped(failure.observed_outcome.error_code ?? failure.observed_outcome.kind)}</code>
${escaped(failure.observed_outcome.message_preview ?? '')} <span class="soft">${escaped(failure.fingerprint)}, ${failure.status}</span></p>`;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string =>
  visibleText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
.soft { opacity: 0.75; }
.why { border-left: 4px solid #2456c7; padding: 0.5rem 1rem; }
.square { display: inline-block; min-width: 1.5em; padding: 0 0.25em; border: 2px solid; border-radius: 4px; text-align: center; }
.square.failed { color: #fff; background: #b3261e; border-color: #b3261e; }
.square.ok { color: #14713c; background: #def3e5; }
pre { overflow: auto; max-height: 24rem; padding: 0.75rem; border: 1px solid; border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; }
ul { list-style: none; padding: 0; }
`;

/** Saves a text as a file of the person. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
