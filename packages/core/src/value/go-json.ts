const short: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * A string as Go's JSON encoder writes it: `< > &` and U+2028/2029 as `\uXXXX`, control characters other than `\n \r \t`
 * as `\u00XX`, everything else literally (GP §1.3).
 */
export const goString = (text: string): string =>
  `"${text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
    /[\u0000-\u001f"\\<>&\u2028\u2029]/g,
    (char) => short[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}"`;
