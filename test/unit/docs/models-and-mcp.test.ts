/** The tables of docs/testing.md, docs/mcp-tools.md and docs/agents.md against the types that they describe. */
import { describe, expect, it } from 'vitest';
import { bare, pageText, section, tableRows } from './markdown.ts';

const firstColumn = (page: string, heading: string): string[] =>
  tableRows(section(page, heading)).map(([first]) => bare(first));

/** The members of an interface, as the source spells them. */
function membersOf(file: string, name: string): string[] {
  const [, after = ''] = pageText(file).split(`export interface ${name} {\n`);
  const [body = ''] = after.split('\n}');
  return [...body.matchAll(/^ {2}(?<member>\w+)\??:/gm)].map((match) => match.groups?.['member'] ?? '');
}

describe('docs/testing.md', () => {
  const script = 'src/testing/scripted-model/script.ts';

  it('lists every fault', () => {
    const known = [...pageText(script).matchAll(/\| \{ fault: '(?<fault>\w+)'/g)].map(
      (match) => match.groups?.['fault'] ?? '',
    );
    expect(known.length).toBeGreaterThan(11);
    expect(firstColumn('docs/testing.md', 'Faults').toSorted()).toEqual(known.toSorted());
  });

  it('lists every member of a turn', () => {
    expect(firstColumn('docs/testing.md', 'Turns')).toEqual(membersOf(script, 'AnswerTurn'));
  });
});

describe('docs/mcp-tools.md', () => {
  it('lists every option', () => {
    const file = 'src/define/mcp/mcp-tools.ts';
    const members = ['McpServerCommon', 'McpCommand', 'McpAddress'].flatMap((name) => membersOf(file, name));
    expect(members.length).toBeGreaterThan(10);
    expect(firstColumn('docs/mcp-tools.md', 'Options').toSorted()).toEqual([...new Set(members)].toSorted());
  });
});

describe('docs/agents.md', () => {
  it('lists every option of an agent, and of a model that reviews', () => {
    const options = (heading: string) => firstColumn('docs/agents.md', heading);
    const agent = membersOf('src/define/define-agent.ts', 'AgentDefinition<Output = unknown>');
    const reviewer = membersOf('src/model/model-reviewer.ts', 'ModelReviewerOptions');
    expect(options('An agent with a model')).toEqual(agent);
    expect(options('Review')).toEqual(reviewer);
    expect(options('Where the model is')).toEqual(membersOf('src/define/model-source.ts', 'ModelEndpoint'));
    expect(options('Agents as tools')).toEqual(membersOf('src/define/agent-tool.ts', 'AgentToolOptions'));
  });
});
