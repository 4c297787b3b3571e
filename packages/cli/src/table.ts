/** A column of a table: its heading and the width it is filled to, as the old program printed it (GP §5.3). */
export interface Column {
  readonly heading: string;
  /** Left out for the last column of some tables, which is not filled. */
  readonly width?: number;
}

const line = (columns: readonly Column[], cells: readonly string[]): string =>
  columns
    .map(({ width }, at) => (width === undefined ? (cells[at] ?? '') : (cells[at] ?? '').padEnd(width)))
    .join('\t');

/** Lines of a table, the cells filled to their widths and separated by tabs; no heading when `isQuiet`. */
export const tableLines = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  isQuiet: boolean,
): string[] => [
  ...(isQuiet
    ? []
    : [
        line(
          columns,
          columns.map(({ heading }) => heading),
        ),
      ]),
  ...rows.map((cells) => line(columns, cells)),
];

/** What stands for a logical id that is not there (GP §5.3). */
export const noLogicalId = '  -   ';
