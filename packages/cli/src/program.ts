import { Command } from 'commander';
import { version } from './version.ts';

/** Where a command line writes. */
export interface Output {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** The command line's grammar. Parsing throws a `CommanderError` once help, the version or a usage error has been printed. */
export const program = (output: Output): Command => {
  const command = new Command('infrakit')
    .description('An event-driven infrastructure control plane on an MQTT bus.')
    .usage('[options] <verb>')
    .version(`infrakit ${version()}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [verb]', 'print help for a verb')
    .commandsGroup('Verbs:')
    .argument('[verb]')
    .allowExcessArguments()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.stdout.write(text),
      writeErr: (text) => output.stderr.write(text),
      outputError: (text, write) => write(`infrakit: ${text.replace(/^error: /, '')}`),
    });
  command.action((verb?: string) => {
    if (verb === undefined) command.help({ error: true });
    command.error(`unknown verb \`${verb}\`; \`infrakit --help\` lists the verbs`);
  });
  command
    .command('version')
    .description('print the version')
    .allowExcessArguments(false)
    .action(() => {
      output.stdout.write(`infrakit ${version()}\n`);
    });
  return command;
};
