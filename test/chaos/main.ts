import { randomInt } from 'node:crypto';
import { type Campaign, runCampaign } from '../campaign.ts';
import { runModules } from '../modules.ts';

const help = `npm run --silent chaos -- [name …] [--seed N] [--seconds N]

Runs the campaigns named, all by default, each for about --seconds (60), and prints one JSON object on stdout.
All that is random in a campaign comes from --seed: the seed of a failure repeats it.`;

const exitCode = await runModules(
  {
    folder: new URL('.', import.meta.url),
    help,
    options: { seed: { byDefault: randomInt(2 ** 31), least: 0 }, seconds: { byDefault: 60, least: 1 } },
    load: (name): Promise<Campaign> => import(`./${name}.ts`),
    run: (campaign, options) => runCampaign(campaign, options),
    facts: { node: process.version },
  },
  process.argv.slice(2),
  { out: console.log, err: console.error },
);
// A campaign that ignored its end may still have timers or children: they must not keep this process.
process.exit(exitCode);
