import pc from 'picocolors';

/** A pipe gets plain text unless somebody asks for more: picocolors alone would colour every pipe of a CI server. */
export function wantsColours(env: NodeJS.ProcessEnv, stream: { isTTY?: boolean }): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export const colours = pc.createColors(wantsColours(process.env, process.stdout));
