import { join } from 'node:path';
import type { Spec } from '@infrakit/core';
import { expect, test } from 'vitest';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator } from './operator.ts';

const rule = (properties: Readonly<Record<string, unknown>>): Spec => ({
  kind: 'enrollment',
  metadata: { name: 'volumes' },
  properties: { List: [], Instance: { Plugin: 'nfs-exports/export', Properties: properties } },
  options: {},
});

test('issue 7: an enrollment with bad properties of its sink is refused at commit, all faults at once, and what a template gives is not judged', async () => {
  await using home = await temporaryHome();
  await using _host = await startHere(['manager:mystack', 'nfs-exports', 'enrollment:nfs'], {
    home: home.path,
    pluginOptions: { 'nfs-exports': { Dir: join(home.path, 'exports.d'), Command: ['true'] } },
  });
  await using operator = await connectOperator(await brokerOf(home.path));
  const refused = operator.commit(rule({ Path: 'srv', Client: '{{.Address}}', Options: ['rw', 'nope'], Nope: 1 }));
  await expect(refused).rejects.toMatchObject({
    code: 'SPEC_INVALID',
    message: expect.stringMatching(
      /^Instance\.Properties\.Path: must be.*\n.*Options\[1\]: is no option.*\n.*Nope: unknown field.*nfs-exports\/export/,
    ),
  });
  await expect(refused).rejects.not.toThrow(/Client: /);
  expect(await operator.describe('nfs')).toEqual([]);
  await operator.commit(rule({ Path: '/srv', client: String.raw`\{\{.Address\}\}`, options: ['rw', '{{.ID}}'] }));
  expect(await operator.describe('nfs')).toHaveLength(1);
});
