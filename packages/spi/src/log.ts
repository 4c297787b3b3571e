type Write = (facts: Readonly<Record<string, unknown>>, message: string) => void;

/** Port: a structured log (pino fits): a constant message, facts as fields. */
export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
