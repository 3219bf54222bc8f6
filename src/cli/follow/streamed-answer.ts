import type { ModelDelta } from '../../protocol/model-delta.ts';
import { colours } from '../show/colours.ts';
import { oneLine } from '../show/terminal-text.ts';

/** What a model produces right now, as dim lines. They are not final: the turn may fail and be tried again. */
export class StreamedAnswer {
  #about = '';
  #line = '';

  /** The line that is not complete yet, for the live line. */
  get current(): string {
    return this.#line;
  }

  /** Returns the lines that are complete with this delta. */
  add(delta: ModelDelta): string[] {
    const about = `${delta.turn} ${delta.attempt} ${delta.kind === 'text' ? 'text' : delta.call_id}`;
    const before = about === this.#about ? [] : this.end();
    if (about !== this.#about && delta.kind === 'tool_call') this.#line = `${delta.tool} `;
    this.#about = about;
    const lines = (this.#line + delta.text).split('\n');
    this.#line = lines.pop() ?? '';
    return [...before, ...lines.map(shown)];
  }

  /** Returns the rest. An event of the run follows, or another part of the turn. */
  end(): string[] {
    const rest = this.#line;
    this.#line = '';
    this.#about = '';
    return rest.trim() === '' ? [] : [shown(rest)];
  }
}

const shown = (line: string): string => `  ${colours.dim(`┊ ${oneLine(line)}`)}`;
