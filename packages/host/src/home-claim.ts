import { join } from 'node:path';
import { encodeLevel } from '@infrakit/core';
import { type HeldLock, tryLock } from '@infrakit/manager';
import { openHome } from './home.ts';

/**
 * Takes a name in a home, which is made if it is not there, for as long as this process lives; null when somebody has it.
 * `what` keeps it apart from the same name of other things. Errors: `HOME_INVALID`.
 */
export const claimInHome = async (home: string, what: string, name: string): Promise<HeldLock | null> => {
  const { locks } = await openHome(home);
  return tryLock(join(locks, what, encodeLevel(name)));
};
