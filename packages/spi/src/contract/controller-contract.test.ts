import { brokenTests } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { controllerInterface } from '../controller.ts';
import { direct } from '../direct.ts';
import { memoryControllerSubject } from '../reference/memory-controller-subject.ts';
import { brokenControllers } from './controller.broken.ts';
import { controllerContract } from './controller-contract.ts';
import { realAfter } from './testing-context.ts';

contractTests(controllerContract, async () =>
  memoryControllerSubject((controller) => direct(controllerInterface, controller, { after: realAfter })),
);

brokenTests(controllerContract, brokenControllers);
