import type { Command } from 'commander';
import { SecondwindError } from '../../protocol/errors.ts';
import type { Registry } from '../../define/registry.ts';

interface BoundFlags {
  plan?: string;
  agent?: string;
  agents?: string;
  policy?: string;
  json?: boolean;
}

export function addBound(program: Command): void {
  program
    .command('bound')
    .description('show the limit of a run before it starts: the most that it can take')
    .option('--plan <file>', 'a JSON file with the plan (default: the agent chooses its steps)')
    .option('--agent <name>', 'the agent whose policy and plan apply')
    .option(
      '--agents <folder>',
      'a folder whose files export agents; with only one agent in it, --agent can be left out',
    )
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--json', 'print JSON')
    .action(async (flags: BoundFlags) => {
      const { boundSentence } = await import('../../core/bound/sentence.ts');
      const bound = await computeLimit(flags);
      const sentence = boundSentence(bound);
      process.stdout.write(`${flags.json ? JSON.stringify({ ...bound, sentence }) : sentence}\n`);
    });
}

async function computeLimit(flags: BoundFlags) {
  const { badInput, readPlan, readPolicy } = await import('../read-input.ts');
  const plan = flags.plan === undefined ? undefined : await readPlan(flags.plan);
  const policy = flags.policy === undefined ? undefined : await readPolicy(flags.policy);
  if (flags.agent === undefined && flags.agents === undefined) {
    const [{ computeBound }, { mergePolicy }] = await Promise.all([
      import('../../core/bound/compute-bound.ts'),
      import('../../core/policy/merge-policy.ts'),
    ]);
    return computeBound({ policy: mergePolicy(policy), planLength: plan?.steps.length ?? null });
  }
  const [{ prepareRun }, { registryWith }] = await Promise.all([
    import('../../define/prepare-run.ts'),
    import('../serve/built-in-agents.ts'),
  ]);
  const registry = await registryWith(flags.agents);
  const agent = flags.agent ?? onlyAgent(registry);
  // The request is checked as at the start of a run, so that an invalid run gets no limit.
  const request = { agent, goal: 'bound', ...(plan && { plan }), ...(policy && { policy }) };
  const outcome = prepareRun(request, registry, 'bound');
  if (!outcome.ok) throw badInput('This run', outcome.problems);
  return outcome.prepared.bound;
}

/** Returns the only agent of the folder. Built-in agents do not count. */
function onlyAgent({ agents }: Registry): string {
  const names = [...agents.keys()].filter((name) => name !== BUILT_IN);
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return name;
  throw new SecondwindError(
    'bad_usage',
    `The folder has ${names.length} agents: ${names.join(', ')}.`,
    'Name one of them with --agent.',
  );
}
const BUILT_IN = 'demo';
