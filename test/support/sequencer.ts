import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ORDER = ['keeper', 'kill', 'slow', 'stack', 'unit'];
const rank = ({ project }: TestSpecification): number => ORDER.indexOf(project.name);

/** Those that wait longest begin, so that nobody waits for them alone at the end: the unit tests fill every core. */
export class LongestWaitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
