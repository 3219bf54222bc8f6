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
    .description('the most that a run can take, before it starts')
    .option('--plan <file>', 'a JSON file with the plan; without one the agent chooses its steps')
    .option('--agent <name>', 'an agent, with its own policy and plan')
    .option('--agents <folder>', 'a folder whose files export agents; where it has one, --agent can be left out')
    .option('--policy <file>', 'a JSON file with any part of a policy')
    .option('--json', 'as JSON')
    .action(async (flags: BoundFlags) => {
      const { boundSentence } = await import('../../core/bound/sentence.ts');
      const bound = await boundOf(flags);
      const sentence = boundSentence(bound);
      process.stdout.write(`${flags.json ? JSON.stringify({ ...bound, sentence }) : sentence}\n`);
    });
}

async function boundOf(flags: BoundFlags) {
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
    import('../serve/registry.ts'),
  ]);
  const registry = await registryWith(flags.agents);
  const agent = flags.agent ?? onlyAgent(registry);
  // The same check as at the start of a run, so that a bound is never given for a run that would be refused.
  const request = { agent, goal: 'bound', ...(plan && { plan }), ...(policy && { policy }) };
  const outcome = prepareRun(request, registry, 'bound');
  if (!outcome.ok) throw badInput('This run', outcome.problems);
  return outcome.prepared.bound;
}

/** The one of the folder; those that are there anyway were not meant. */
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
