// Prints the closing line of a test run, `N passed, N failed`, from the JSON report of vitest: node test/count.mjs FILE
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Counts a report. A file that could not be loaded counts as one failed test; no report at all, too.
 * @param {string | undefined} report the report's text
 */
export const closingLine = (report) => {
  if (report === undefined) return '0 passed, 1 failed';
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report);
  const unloaded = testResults.filter(
    (/** @type {{ status: string, assertionResults: unknown[] }} */ file) =>
      file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  return `${numPassedTests} passed, ${numFailedTests + unloaded} failed`;
};

/** @param {string} file */
const readReport = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(closingLine(readReport(process.argv[2] ?? '')));
