/** RFC 3339 UTC of a point in time; pure, because the time is given. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();
