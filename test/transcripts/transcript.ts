/** One command of a transcript, what it printed (stdout and stderr as a terminal shows them), and its exit code. */
export interface Step {
  /** Lines before it that tell what it is about. */
  readonly notes: readonly string[];
  readonly command: string;
  readonly output: string;
  readonly exit: number;
}

/** A transcript: the plugins that run meanwhile, and the steps. */
export interface Transcript {
  readonly plugins: readonly string[];
  readonly steps: readonly Step[];
}

const hostLine = '% infrakit plugin start ';

/**
 * Reads `% infrakit plugin start …` (once, on top), `# note`, `$ command`, its output, `? exit code`. Throws on anything else,
 * such as a command without its exit code.
 */
export const parseTranscript = (text: string): Transcript => {
  const steps: Step[] = [];
  let plugins: readonly string[] = [];
  let notes: string[] = [];
  let open: { readonly command: string; readonly output: string[] } | undefined;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (open === undefined) {
      if (line.startsWith(hostLine)) plugins = line.slice(hostLine.length).split(' ');
      else if (line.startsWith('$ ')) open = { command: line.slice(2), output: [] };
      else if (line === '' || line.startsWith('#')) notes.push(line);
      else throw new Error(`not a line of a transcript: ${line}`);
    } else if (/^\? \d+$/.test(line)) {
      const output = open.output.map((each) => `${each}\n`).join('');
      steps.push({ notes, command: open.command, output, exit: Number(line.slice(2)) });
      notes = [];
      open = undefined;
    } else open.output.push(line);
  }
  if (open !== undefined) throw new Error(`no exit code after: ${open.command}`);
  return { plugins, steps };
};

/** The text of a transcript. */
export const formatTranscript = ({ plugins, steps }: Transcript): string => {
  const host = plugins.length === 0 ? '' : `${hostLine}${plugins.join(' ')}\n`;
  const texts = steps.map(
    ({ notes, command, output, exit }) =>
      `${notes.map((line) => `${line}\n`).join('')}$ ${command}\n${output === '' || output.endsWith('\n') ? output : `${output}\n`}? ${exit}\n`,
  );
  return host + texts.join('');
};

/** Takes out of an output what is another at each run: ids by the order in which they appear, in as many characters. */
export const normaliser = (home: string, folder: string): ((output: string) => string) => {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? String(ids.size + 1).padStart(id.length, '0');
    ids.set(id, known);
    return known;
  };
  return (output) =>
    output
      .replaceAll(home, '/home/you/.infrakit')
      .replaceAll(folder, '/home/you')
      .replace(/(?<![0-9])1[0-9]{18}(?![0-9])/g, idOf)
      .replace(/\b127\.0\.0\.1:[1-9]\d{3,}/g, '127.0.0.1:<port>')
      .replace(/\bprocess \d+ on \S+/g, 'process <pid> on <host>')
      .replace(/^Revision: .*$/gm, 'Revision: <commit>')
      .replace(/\b(mystack-)[0-9a-z]{8,}\b/g, '$1<stack id>')
      .replace(/\b[0-9a-f]{32,}\b/g, '<hash>');
};
