#!/usr/bin/env node
import { existsSync } from 'node:fs';

const build = new URL('../dist/main.js', import.meta.url);
if (existsSync(build)) {
  const { main } = await import(build.href);
  process.exitCode = await main(process.argv.slice(2), process);
} else {
  process.stderr.write('infrakit: this checkout is not built yet: run `npm run build`\n');
  process.exitCode = 1;
}
