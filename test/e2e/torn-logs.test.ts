import { randomInt } from 'node:crypto';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAgain } from './crash.ts';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator } from './operator.ts';
import { follows, hasMembers, mainJob } from './stack.ts';

/** Cuts the last records off every log of a home, as a disk that lost its last writes; gives how many logs there are. */
const cutLogs = async (home: string, records: number): Promise<number> => {
  const files = await readdir(home, { recursive: true });
  const logs = files.filter((file) => file.endsWith('.log')).map((file) => join(home, file));
  for (const path of logs) {
    const lines = (await readFile(path)).toString('latin1').split('\n');
    await truncate(path, lines.slice(0, Math.max(0, lines.length - 1 - records)).join('\n').length);
  }
  return logs.length;
};

/** Which cattle the simulator still has, asked with nothing else running. */
const survivors = async (home: string): Promise<string[]> => {
  await using _host = await startHere(['simulator'], { home });
  await using operator = await connectOperator(await brokerOf(home));
  const cattle = await operator.instances('simulator/compute', { 'infrakit.group': 'cattle' });
  return cattle.map(({ ID }) => ID);
};

test.each([1, 2, 3])(
  'the last %i records of each log are lost: it starts without hands and converges to what is left (Law 11)',
  async (records) => {
    await using home = await temporaryHome();
    const first = await startAgain(home.path);
    await mainJob(first.operator);
    const size = randomInt(4, 25);
    await first.operator.scale('cattle', size);
    await follows(first.operator, size);
    await first.host.kill();
    await first.operator[Symbol.asyncDispose]();
    expect(await cutLogs(home.path, records)).toBeGreaterThan(3);
    const alive = await survivors(home.path);

    const again = await startAgain(home.path);
    await using _host = again.host;
    await using operator = again.operator;
    // The target is in the manager's store, whose files are whole or not there: the group hears of it again.
    const members = await follows(operator, size, 20_000);
    expect(members.filter((id) => alive.includes(id))).toHaveLength(Math.min(size, alive.length));
    await hasMembers(operator, 'miners', 5);
  },
  60_000,
);
