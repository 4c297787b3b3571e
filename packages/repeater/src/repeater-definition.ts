import { systemClock } from '@infrakit/runtime';
import type { PluginDefinition } from '@infrakit/spi';
import { startRepeater } from './repeater-plugin.ts';
import { RepeaterOptions } from './repeater-schema.ts';

/** The plugin `repeater`: specs of kind `event-repeater`, and mirrored topics as instances of `<repeater>/topic`. */
export const repeaterDefinition: PluginDefinition<typeof RepeaterOptions> = {
  kind: 'repeater',
  aliases: ['event-repeater'],
  summary: 'mirrors topics of the bus, or of any broker, to another broker',
  isSingle: true,
  options: RepeaterOptions,
  environment: {
    INFRAKIT_REPEATER_PROBE_INTERVAL: (text) => ({ ProbeInterval: text }),
    INFRAKIT_REPEATER_MAX_MESSAGE: (text) => ({ MaxMessage: Number(text) }),
    INFRAKIT_REPEATER_MAX_HOPS: (text) => ({ MaxHops: Number(text) }),
  },
  start: (deps) => startRepeater(deps, systemClock),
};
