#!/usr/bin/env node
import { existsSync } from 'node:fs';

const build = new URL('../dist/bundle/main.js', import.meta.url);
if (existsSync(build)) {
  const { main } = await import(build.href);
  await main(process);
} else {
  process.stderr.write('infrakit: this checkout is not built yet: run `npm run build`\n');
  process.exitCode = 1;
}
