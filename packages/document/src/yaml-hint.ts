/** Whether a quote or bracket that begins a value before the offset is still open there. */
const isOpen = (text: string, offset: number): boolean => {
  let quote = '';
  let brackets = 0;
  for (let at = 0; at < offset; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (quote === '"' && character === '\\') at += 1;
      else if (character === quote) quote = '';
      continue;
    }
    const isStart = at === 0 || /[\s[{,]/.test(text.charAt(at - 1));
    if (character === '#' && isStart) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? offset : end;
    } else if ((character === '"' || character === "'") && isStart) quote = character;
    else if ((character === '[' || character === '{') && (isStart || brackets > 0)) brackets += 1;
    else if ((character === ']' || character === '}') && brackets > 0) brackets -= 1;
  }
  return quote !== '' || brackets > 0;
};

/** What most likely went wrong where YAML stopped making sense, and what to do. */
export const yamlHint = (text: string, offset: number): string => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  const rest = text.slice(offset).split(/\r\n|\r|\n/, 1)[0] ?? '';
  const line = `${lines.at(-1) ?? ''}${rest}`;
  const above = lines.at(-2) ?? '';
  const code = text.charCodeAt(offset);
  if (code < 32 && ![9, 10, 13].includes(code)) return 'remove this control character';
  if (line.includes('{{')) return 'quote a value with `{{`, or escape it as `\\{\\{ … \\}\\}`';
  if (/^ *\t/.test(line)) return 'indent with spaces, not tabs';
  if (/"[^"]*\\[{}]/.test(line)) return 'between double quotes write `\\\\{`, or use single quotes';
  if (/: *[@`%]/.test(line)) return 'quote a value that begins with `@`, `%` or a backquote';
  if (isOpen(text, offset)) return 'close what was opened before: a quote, `[` or `{`';
  if (/^[^"'#]*: [^"'#]*:( |$)/.test(line)) return 'quote a value that has `: ` in it';
  if (/^\s*[\w-]+:[^\s/]/.test(line) || /^\s*[\w-]+:[^\s/]/.test(above)) return 'put a blank after the colon';
  return 'check the indentation of this line against the lines above';
};
