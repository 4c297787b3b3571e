const naive = (text: string): string => text.replaceAll('{{', '\\{\\{').replaceAll('}}', '\\}\\}');

/** A run of one brace; `before` are the backslashes in front of it. No two braces may remain beside each other. */
const escapeRun = (before: string, run: string): string => {
  const brace = run.charAt(0);
  if (run.length === 1 || run.length % 2 === 0) {
    return before + (run.length === 1 ? run : `\\${brace}`.repeat(run.length));
  }
  return before + brace + (before === '' ? `\\${brace}` : `\\\\${brace}`).repeat(run.length - 1);
};

/**
 * Makes the braces of a text survive one rendering: `{{` becomes `\{\{`, `}}` becomes `\}\}`.
 *
 * {@link unescapeBraces} gives back every text that holds no escaped braces yet; those cannot be told from ours (EI §1.6).
 */
export const escapeBraces = (text: string): string => {
  const escaped = text.replace(/(\\*)(\{+|\}+)/g, (_whole, before: string, run: string) => escapeRun(before, run));
  return unescapeBraces(escaped) === text ? escaped : naive(text);
};

/**
 * Turns escaped braces back: first `\{\{` and `\}\}`, then the form that they have inside JSON text, where each backslash is
 * doubled (EI §1.6, EI-E27). A single `\{` stays.
 */
export const unescapeBraces = (text: string): string =>
  text
    .replaceAll('\\{\\{', '{{')
    .replaceAll('\\}\\}', '}}')
    .replaceAll('\\\\{\\\\{', '{{')
    .replaceAll('\\\\}\\\\}', '}}');
