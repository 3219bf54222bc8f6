import pc from 'picocolors';

/** Colours only for terminals, unless FORCE_COLOR is set. picocolors alone would colour all output on CI servers. */
export function wantsColours(env: NodeJS.ProcessEnv, stream: { isTTY?: boolean }): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export const colours = pc.createColors(wantsColours(process.env, process.stdout));
