import { AppError, type SpecObject } from '@infrakit/core';
import { controllerInterface, type RuleProgress } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { type FormatOptions, formatOf, rawText } from '../format.ts';
import { itemRows } from '../item-rows.ts';
import { scopeOf } from '../objects.ts';
import { heldSentence, stateSummary } from '../rule-state.ts';
import { tableLines } from '../table.ts';
import { tagWords } from '../tag-words.ts';
import { onlyName, verb } from '../verb.ts';

interface Options extends FormatOptions {
  readonly tags?: string;
  readonly view: string;
  readonly quiet?: boolean;
}

const columns = [
  { heading: 'KIND', width: 10 },
  { heading: 'NAME', width: 15 },
  { heading: 'ID', width: 15 },
];

const wideColumns = [...columns, { heading: 'STATE' }];

const row = ({ kind, metadata }: SpecObject): string[] => [kind, metadata.name, metadata.id ?? '-'];

const notThere = (object: string, name: string): AppError =>
  new AppError('RULE_NOT_FOUND', `${object} has nothing called ${name}`);

/**
 * `describe [name]`: what is committed; `-o` one line for each item of the state (GP §5.3, EI §2.7). What is held is said on
 * stderr too.
 */
export default verb<Options>({
  define: (command) =>
    command
      .argument('[name]')
      .option('--tags <key=value,...>', 'only those with these tags')
      .option('-o, --output [format]', 'table, wide, objects, json or yaml; alone: objects')
      .option('-v, --view <template>', 'how DATA of an item is shown', '{{ default .instance.ID .error }}')
      .option('-q, --quiet', 'no heading')
      .option('-r, --raw', 'everything, as JSON')
      .option('-y, --yaml', 'YAML instead of JSON'),
  run: async (call) => {
    const { session, object, args, options, print, note, streams } = call;
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const name = scopeOf(object) === null ? args[0] : onlyName(call, 'rule');
    const search = {
      ...(name !== undefined && { name }),
      ...(options.tags !== undefined && { tags: tagWords(options.tags.split(','), '--tags') }),
    };
    const [{ objects }, { statuses }] = await Promise.all([
      controller.describe({ search }, session.ctx()),
      controller.status({ search }, session.ctx()),
    ]);
    const progress = new Map(statuses.map((status): [string, RuleProgress] => [status.name, status.progress]));
    const nameOf = ({ metadata }: SpecObject): string => metadata.id ?? metadata.name;
    const wideRow = (one: SpecObject): string[] => [...row(one), stateSummary(one, progress.get(nameOf(one)))];
    if (objects.length === 0 && name !== undefined) throw notThere(object.name, name);
    const format = formatOf(options);
    if (format === 'json' || format === 'yaml') streams.stdout.write(rawText(objects, format));
    else if (format === 'objects') print(await itemRows(objects, options.view, options.quiet === true));
    else if (format === 'wide') print(tableLines(wideColumns, objects.map(wideRow), options.quiet === true));
    else print(tableLines(columns, objects.map(row), options.quiet === true));
    for (const one of objects) {
      const found = progress.get(nameOf(one));
      if (found?.kind === 'held') note(heldSentence(object, nameOf(one), found));
    }
    return exits.done;
  },
});
