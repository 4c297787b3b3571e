/**
 * Makes the braces of a text survive one rendering: `{{` becomes `\{\{`, `}}` becomes `\}\}`.
 *
 * {@link unescapeBraces} gives back every text that holds no escaped braces yet; those cannot be told from ours (EI §1.6).
 */
export const escapeBraces = (text: string): string => text.replaceAll('{{', '\\{\\{').replaceAll('}}', '\\}\\}');

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
