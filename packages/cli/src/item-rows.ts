import { compareUtf8, type SpecObject } from '@infrakit/core';
import { type GroupStatus, itemsOf } from './rule-state.ts';
import { tableLines } from './table.ts';
import { viewOf } from './view.ts';

const columns = ['COLLECTION', 'KEY', 'STATE', 'DATA'].map((heading) => ({ heading, width: 20 }));

interface Item {
  readonly Key: string;
  readonly State: string;
  readonly Data?: unknown;
}

/** Members of a group as items, where a state is that of a group. */
const membersOf = (state: unknown): readonly Item[] | undefined => {
  const { Instances } = (state ?? {}) as GroupStatus;
  return Instances?.map(({ ID, Health, LogicalID, Address }) => ({
    Key: ID,
    State: Health,
    Data: { enrollmentID: LogicalID ?? Address ?? '' },
  }));
};

const defaultView = '{{ default .instance.ID .error }}';

interface OwnData {
  readonly error?: string;
  readonly held?: string;
  readonly enrollmentID?: string;
  /** Of a mirrored topic. */
  readonly messages?: number;
  readonly bytes?: number;
  readonly dropped?: number;
  readonly lastDrop?: string;
  readonly notes?: string;
  readonly lagMs?: number;
  readonly buffered?: { readonly messages: number; readonly bytes: number };
}

/** How a mirrored topic fares; what went wrong last stays to be seen when all is well again. */
const mirrorView = ({ messages = 0, bytes = 0, dropped = 0, lagMs = 0, buffered, ...own }: OwnData): string => {
  const { lastDrop, notes, error } = own;
  return [
    `${messages} messages, ${bytes} bytes, lag ${lagMs} ms`,
    ...(buffered === undefined ? [] : [`${buffered.messages} in the buffer (${buffered.bytes} bytes)`]),
    ...(dropped > 0
      ? [lastDrop === undefined ? `${dropped} dropped` : `${dropped} dropped (the last: ${lastDrop})`]
      : []),
    ...(notes === undefined ? [] : [notes]),
    ...(error === undefined ? [] : [`last error: ${error}`]),
  ].join(', ');
};

/** What our own items say, where nobody asks for another view: what went wrong, else the entry. */
const ownView = (data: unknown): string => {
  const own = (data ?? {}) as OwnData;
  return own.messages === undefined ? (own.error ?? own.held ?? own.enrollmentID ?? '') : mirrorView(own);
};

/** One line for each item of the states of objects, sorted by collection and key (GP §5.3, `-o`). */
export const itemRows = async (
  objects: readonly SpecObject[],
  view: string,
  isQuiet: boolean,
): Promise<readonly string[]> => {
  const show = view === defaultView ? ownView : await viewOf(view);
  const rows = objects.flatMap(({ metadata, state }): string[][] => {
    if (state === undefined || state === null) return [[metadata.name, '-', '-', '-']];
    const items = membersOf(state) ?? itemsOf(state);
    if (items === undefined) {
      return [[metadata.name, '-', '-', 'the state is no list of items']];
    }
    return items.map(({ Key, State, Data }) => [metadata.name, Key, State, show(Data)]);
  });
  const order = (
    [name = '', key = '']: readonly string[],
    [otherName = '', otherKey = '']: readonly string[],
  ): number => compareUtf8(name, otherName) || compareUtf8(key, otherKey);
  return tableLines(columns, rows.sort(order), isQuiet);
};
