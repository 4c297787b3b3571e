/** The JSON values of a stream, one a line. A line that is none is left out: what an engine says may grow new words. */
export async function* jsonLines(stream: NodeJS.ReadableStream): AsyncGenerator<Record<string, unknown>> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.flatMap(valuesOf);
  }
  yield* valuesOf(rest);
}

const valuesOf = (line: string): Record<string, unknown>[] => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value as Record<string, unknown>] : [];
  } catch {
    return [];
  }
};
