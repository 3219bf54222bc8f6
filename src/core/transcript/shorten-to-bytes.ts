/** How many bytes a text takes inside a JSON request. Quotes, line ends and control characters take two or more. */
export const encodedBytes = (text: string): number => new TextEncoder().encode(JSON.stringify(text)).length;

const CUT = '\n[… cut …]\n';

/** Keeps the beginning and the end of a text, so that it takes at most `maxBytes` inside a JSON request. */
export function shortenToBytes(text: string, maxBytes: number): string {
  if (encodedBytes(text) <= maxBytes) return text;
  // The encoded size grows with the length, so a binary search finds the longest text that fits.
  let fits = 0;
  let tooLong = Math.min(text.length, maxBytes);
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (encodedBytes(cutMiddle(text, middle)) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  return cutMiddle(text, fits);
}

/** Keeps two thirds from the beginning and one third from the end, without splitting a surrogate pair. */
function cutMiddle(text: string, chars: number): string {
  const tail = Math.floor(chars / 3);
  const head = chars - tail;
  return wholeEnd(text.slice(0, head)) + CUT + (tail === 0 ? '' : wholeStart(text.slice(-tail)));
}

const wholeEnd = (text: string): string => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
const wholeStart = (text: string): string => (/^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text);
