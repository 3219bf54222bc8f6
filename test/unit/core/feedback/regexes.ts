import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { FAMILIES } from '../../../../src/core/feedback/patterns.ts';

const folder = resolve(import.meta.dirname, '../../../../src/core/feedback');

/** Every regular expression of the feedback core: the literals of its sources, and the families built at load. */
export function allRegexes(): { where: string; regex: RegExp }[] {
  const found: { where: string; regex: RegExp }[] = [];
  for (const name of readdirSync(folder)) {
    const source = ts.createSourceFile(name, readFileSync(join(folder, name), 'utf8'), ts.ScriptTarget.ES2022, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        found.push({ where: name, regex: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  for (const [type, families] of Object.entries(FAMILIES))
    for (const { pattern, reports, words } of families)
      for (const regex of [...reports, ...words]) found.push({ where: `${type}/${pattern}`, regex });
  return found;
}
