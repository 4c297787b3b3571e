import { compareUtf8, formatTags, type InstanceDescription, matchesTags } from '@infrakit/core';
import type { Command } from 'commander';
import { type FormatOptions, formatOf, rawText } from './format.ts';
import { noLogicalId, tableLines } from './table.ts';
import { tagWords } from './tag-words.ts';
import { viewOf } from './view.ts';

/** The options of verbs that list instances or members (GP §5.3). */
export interface ListOptions extends FormatOptions {
  readonly quiet?: boolean;
  readonly properties?: boolean;
  readonly tags?: string;
  readonly tagsView?: string;
  readonly propertiesView?: string;
  readonly descriptionView?: string;
}

/** Adds them. */
export const addListOptions = (command: Command): Command =>
  command
    .option('-q, --quiet', 'no heading')
    .option('-p, --properties', 'also the properties')
    .option('--tags <key=value,...>', 'only those with these tags')
    .option('-t, --tags-view <template>', 'how tags are shown')
    .option('-w, --properties-view <template>', 'how properties are shown')
    .option('-z, --description-view <template>', 'show the id and this only')
    .option('-o, --output [format]', 'table, json or yaml')
    .option('-r, --raw', 'everything, as JSON')
    .option('-y, --yaml', 'YAML instead of JSON');

const decoded = (description: InstanceDescription): unknown => ({ ...description });

const columnsOf = ({ properties, descriptionView }: ListOptions) => {
  if (descriptionView !== undefined) return [{ heading: 'ID', width: 30 }, { heading: 'VIEW' }];
  const first = [
    { heading: 'ID', width: 30 },
    { heading: 'LOGICAL', width: 30 },
  ];
  return properties === true
    ? [...first, { heading: 'TAGS', width: 30 }, { heading: 'PROPERTIES' }]
    : [...first, { heading: 'TAGS' }];
};

const rowOf = async (options: ListOptions): Promise<(description: InstanceDescription) => string[]> => {
  if (options.descriptionView !== undefined) {
    const view = await viewOf(options.descriptionView);
    return (description) => [description.ID, view(decoded(description))];
  }
  const tags = options.tagsView === undefined ? undefined : await viewOf(options.tagsView);
  const properties = options.propertiesView === undefined ? undefined : await viewOf(options.propertiesView);
  return ({ ID, LogicalID, Tags, Properties }) => [
    ID,
    LogicalID ?? noLogicalId,
    tags === undefined ? formatTags(Tags) : tags(Tags ?? {}),
    ...(options.properties === true
      ? [properties === undefined ? (JSON.stringify(Properties) ?? '') : properties(Properties)]
      : []),
  ];
};

/** Instances as text, sorted by id, filtered by ids, logical ids and tags; each line ends with a break (GP-C18). */
export const listText = async (
  all: readonly InstanceDescription[],
  ids: readonly string[],
  options: ListOptions,
): Promise<string> => {
  const tags = options.tags === undefined ? {} : tagWords(options.tags.split(','), '--tags');
  const isWanted = ({ ID, LogicalID, Tags }: InstanceDescription): boolean =>
    matchesTags(Tags, tags) &&
    (ids.length === 0 || ids.includes(ID) || (LogicalID !== null && ids.includes(LogicalID)));
  const instances = all.filter(isWanted).sort((left, right) => compareUtf8(left.ID, right.ID));
  const format = formatOf(options);
  if (format === 'json' || format === 'yaml') return rawText(instances, format);
  const row = await rowOf(options);
  const rows = instances.map(row);
  const lines =
    options.properties === true && options.quiet === true
      ? rows.map((cells) => cells.at(-1) ?? '')
      : tableLines(columnsOf(options), rows, options.quiet === true);
  return lines.map((line) => `${line}\n`).join('');
};
