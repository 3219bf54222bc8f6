import { visibleText } from '../parts/text.tsx';
import { duration } from '../parts/times.tsx';
import { type AttemptMark, type Mark, type RunModel, sentenceOf } from './run-model.ts';
import { RunLink } from './sub-runs.tsx';
import type { Selected } from './strip.tsx';

interface Bar {
  key: string;
  from: number;
  to: number;
  tone: string;
  sentence: string;
  attempt: AttemptMark | null;
}
interface Lane {
  name: string;
  /** The run that does the latest attempt, if another agent does the step. */
  subRun?: string;
  bars: Bar[];
}

/** More lanes than this would be a page of their own; the list of steps shows all of them. */
const MAX_LANES = 150;

/** Attempts, waits and questions to scale. Each step has a line, so calls side by side stand below each other. */
export function Timeline({ model, now, onSelect }: { model: RunModel; now: number; onSelect: (s: Selected) => void }) {
  const lanes = lanesOf(model, now);
  const from = Date.parse(model.started_at ?? new Date(now).toISOString());
  const to = Math.max(from + 1, model.ended_at === null ? now : Date.parse(model.ended_at));
  const percent = (time: number): number => (100 * Math.min(Math.max(time - from, 0), to - from)) / (to - from);
  return (
    <div className="card timeline">
      <div className="lane axis" aria-hidden="true">
        <span />
        <div className="lane-track">
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <span key={part} className="tick" style={{ left: `${part * 100}%` }}>
              {duration(part * (to - from))}
            </span>
          ))}
        </div>
      </div>
      <ul aria-label="Steps to scale">
        {lanes.slice(0, MAX_LANES).map((lane) => (
          <li className="lane" key={lane.name}>
            <span className="cut small" title={lane.name}>
              {lane.subRun === undefined ? lane.name : <RunLink runId={lane.subRun} text={`${lane.name} ↗`} />}
            </span>
            <div className="lane-track">
              {lane.bars.map((bar) => {
                const place = {
                  left: `${percent(bar.from)}%`,
                  width: `max(3px, ${percent(bar.to) - percent(bar.from)}%)`,
                };
                const { attempt } = bar;
                return attempt === null ? (
                  <span
                    key={bar.key}
                    className={`span ${bar.tone}`}
                    style={place}
                    role="img"
                    aria-label={bar.sentence}
                    title={bar.sentence}
                  />
                ) : (
                  <button
                    key={bar.key}
                    type="button"
                    className={`span ${bar.tone}`}
                    style={place}
                    aria-label={tookText(bar)}
                    title={tookText(bar)}
                    onClick={() => onSelect({ step_id: attempt.step_id, attempt: attempt.attempt })}
                  />
                );
              })}
            </div>
          </li>
        ))}
      </ul>
      {lanes.length > MAX_LANES && (
        <p className="faint small">{lanes.length - MAX_LANES} more steps are in the tab Steps.</p>
      )}
    </div>
  );
}

function lanesOf(model: RunModel, now: number): Lane[] {
  const lanes = new Map<string, Lane>();
  const laneOf = (key: string, name: string): Lane => {
    const lane = lanes.get(key) ?? { name, bars: [] };
    lanes.set(key, lane);
    return lane;
  };
  for (const [index, mark] of model.passes.flatMap((pass) => pass.marks).entries()) {
    const bar = barOf(mark, now, index);
    if (bar === null) continue;
    if (mark.kind === 'question' || (mark.kind !== 'attempt' && mark.step_id === null))
      laneOf('run', 'waiting').bars.push(bar);
    else if (mark.kind === 'attempt') {
      const lane = laneOf(`${mark.step_id}`, `${mark.step_id} ${mark.tool}`);
      lane.bars.push(bar);
      if (mark.sub_run_id !== undefined) lane.subRun = mark.sub_run_id;
    } else laneOf(`${mark.step_id}`, `step ${mark.step_id}`).bars.push(bar);
  }
  return [...lanes.values()];
}

function barOf(mark: Mark, now: number, index: number): Bar | null {
  const sentence = visibleText(sentenceOf(mark)).slice(0, 300);
  const key = `${mark.kind}-${index}`;
  switch (mark.kind) {
    case 'guidance':
      return null;
    case 'wait': {
      const from = Date.parse(mark.at);
      return { key, from, to: Math.min(now, from + mark.wait_ms), tone: 'wait', sentence, attempt: null };
    }
    case 'question': {
      const to = mark.closed_at === null ? now : Date.parse(mark.closed_at);
      return { key, from: Date.parse(mark.at), to, tone: 'question', sentence, attempt: null };
    }
    case 'attempt': {
      const to = mark.ended_at === null ? now : Date.parse(mark.ended_at);
      const tone = mark.isWorkerLost ? 'lost' : mark.outcome;
      return { key, from: Date.parse(mark.started_at), to, tone, sentence, attempt: mark };
    }
  }
}

const tookText = ({ sentence, from, to, attempt }: Bar): string =>
  `${sentence} ${attempt?.ended_at === null ? 'So far' : 'It took'} ${duration(to - from)}.`;
