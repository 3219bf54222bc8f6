/** Half a surrogate pair does not survive being stored; a message with one would no longer have its own hash. */
export const wholeText = (text: string): string =>
  text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
