/** A period at which time events are published, with the id that old consumers know (GP §3.4, GP-E18). */
export interface Period {
  /** Below `streams/` and `timer/`. */
  readonly leaf: string;
  readonly id: string;
  readonly ms: number;
}

const second = 1_000;
const minute = 60 * second;

/** All periods (GP §3.4). */
export const periods: readonly Period[] = [
  { leaf: 'msec/100', id: '100ms', ms: 100 },
  { leaf: 'msec/500', id: '500ms', ms: 500 },
  { leaf: 'sec/1', id: '1sec', ms: second },
  { leaf: 'sec/5', id: '5s', ms: 5 * second },
  { leaf: 'sec/30', id: '30s', ms: 30 * second },
  { leaf: 'min/1', id: '1m', ms: minute },
  { leaf: 'min/5', id: '5m', ms: 5 * minute },
  { leaf: 'min/30', id: '30m', ms: 30 * minute },
  { leaf: 'hr/1', id: '1h', ms: 60 * minute },
];

/** The two names of the same ticks: today's, and that of the program the first event repeater followed (GP §3.4). */
export const streams = [
  { topic: 'streams', type: 'time' },
  { topic: 'timer', type: 'timer' },
] as const;
