import { availableParallelism, cpus } from 'node:os';
import { runModules } from '../modules.ts';

/** What a module of this folder exports: it measures, and gives figures with their units in the names. */
interface Bench {
  run(): Promise<Readonly<Record<string, unknown>>>;
}

const help = `npm run --silent bench -- [name …]

Runs the benchmarks named, all by default, and prints one JSON object on stdout.`;

process.exitCode = await runModules(
  {
    folder: new URL('.', import.meta.url),
    help,
    options: {},
    load: (name): Promise<Bench> => import(`./${name}.ts`),
    run: (bench) => bench.run(),
    facts: { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism() },
  },
  process.argv.slice(2),
  { out: console.log, err: console.error },
);
