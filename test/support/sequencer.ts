import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ORDER = ['keeper', 'kill', 'slow', 'stack', 'unit'];
const rank = ({ project }: TestSpecification): number => ORDER.indexOf(project.name);

/**
 * Files that wait longest start first, so that the run does not wait for them at the end. The unit tests use all cores
 * meanwhile.
 */
export class LongestWaitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
