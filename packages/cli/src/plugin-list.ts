import { compareUtf8, topicsUnder } from '@infrakit/core';
import type { CommandContext } from './command-context.ts';
import { exits } from './exit.ts';
import { type FormatOptions, formatOf, rawText } from './format.ts';
import { objectsOf } from './objects.ts';
import { withSession } from './session.ts';
import { tableLines } from './table.ts';

const columns = [
  { heading: 'INTERFACE', width: 20 },
  { heading: 'NAME', width: 30 },
];

/** `plugin ls [-q]` (GP §4.4): one line an interface of an object; LISTEN is where its calls go on the bus. */
export const listPlugins = (
  options: FormatOptions & { readonly quiet?: boolean },
  context: CommandContext,
): Promise<number> =>
  withSession(context, async (session) => {
    await session.seen();
    const topics = topicsUnder(session.prefix);
    const rows = objectsOf(session.registry).flatMap(({ name, plugin, object, interfaces }) => {
      const process = session.registry.active(plugin)?.process;
      return [...interfaces].map(([id, version]) => ({
        interface: `${id}/${version}`,
        name,
        listen: topics.rpc(plugin, object, id),
        host: process?.host ?? '',
        pid: process?.pid ?? 0,
      }));
    });
    rows.sort((left, right) => compareUtf8(left.name, right.name) || compareUtf8(left.interface, right.interface));
    const format = formatOf(options);
    const { stdout } = context.streams;
    if (format === 'json' || format === 'yaml') {
      stdout.write(rawText(rows, format));
      return exits.done;
    }
    const isWide = format === 'wide';
    const headings = isWide
      ? [...columns, { heading: 'LISTEN', width: 50 }, { heading: 'HOST', width: 20 }, { heading: 'PID' }]
      : [...columns, { heading: 'LISTEN' }];
    const cells = rows.map((row) => [
      row.interface,
      row.name,
      row.listen,
      ...(isWide ? [row.host, String(row.pid)] : []),
    ]);
    stdout.write(
      tableLines(headings, cells, options.quiet === true)
        .map((line) => `${line}\n`)
        .join(''),
    );
    return exits.done;
  });
