import { z } from 'zod';

/** A line of the log as pino writes it. */
const Line = z.looseObject({ level: z.number(), time: z.number(), msg: z.string().optional() });

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const Failure = z.looseObject({ message: z.string() });

const valueText = (value: unknown): string => {
  const failure = Failure.safeParse(value);
  const plain = failure.success ? failure.data.message : value;
  if (typeof plain === 'string') return /^[^\s"=]+$/.test(plain) ? plain : JSON.stringify(plain);
  return JSON.stringify(plain);
};

/**
 * A JSON line of pino as one line for people: time, level, message, facts as `key=value`; errors by their message. Anything
 * else stays as it is.
 */
export const textLine = (line: string): string => {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return line;
  }
  const parsed = Line.safeParse(json);
  if (!parsed.success) return line;
  const { level, time, msg = '', ...facts } = parsed.data;
  const clock = new Date(time).toISOString().slice(11, 23);
  const told = Object.entries(facts).map(([key, value]) => ` ${key}=${valueText(value)}`);
  return `${clock} ${(levels[level] ?? String(level)).padEnd(5)} ${msg}${told.join('')}\n`;
};
