import { brokenTests } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { controllerInterface } from '../controller.ts';
import { direct } from '../direct.ts';
import { memoryControllerSubject } from '../reference/memory-controller-subject.ts';
import { brokenCommits } from './controller-commit.broken.ts';
import { controllerContract } from './controller-contract.ts';
import { brokenLives } from './controller-life.broken.ts';
import { realAfter } from './testing-context.ts';

contractTests(controllerContract, async () =>
  memoryControllerSubject((controller) => direct(controllerInterface, controller, { after: realAfter })),
);

brokenTests(controllerContract, [...brokenCommits, ...brokenLives]);
