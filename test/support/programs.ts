/** A program of this project for `node`, by its source: `src/cli/main.ts`. Needs a project with a global setup. */
import { join } from 'node:path';
import { inject } from 'vitest';
import './provided.ts';

export const program = (source: `${string}.ts`): string => join(inject('programs'), source.replace(/\.ts$/, '.js'));
