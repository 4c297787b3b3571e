import type { PluginDefinition } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordingLog } from '../../../test/host/recording-log.ts';
import { anyDefinition } from './definitions.ts';
import { pluginOptions } from './plugin-options.ts';

const Options = z.strictObject({
  Rate: z.number().min(0).max(1).default(0.5),
  Label: z.string().default('none'),
});

const definition: PluginDefinition = anyDefinition({
  kind: 'probe',
  summary: '',
  isSingle: false,
  options: Options,
  environment: {
    PROBE_RATE: (text) => ({ Rate: Number(text) }),
    PROBE_LABEL: (text) => ({ Label: z.enum(['a', 'b']).parse(text) }),
  },
  start: async () => ({ objects: () => [], stop: async () => undefined }),
} satisfies PluginDefinition<typeof Options>);

const read = (env: Record<string, string>, given?: Record<string, unknown>) => {
  const { log, lines } = recordingLog();
  const options = pluginOptions(definition, given === undefined ? { env } : { given, env }, log);
  return { options, warned: lines.map(({ level, facts }) => `${level} ${facts.variable}`) };
};

describe('options of a plugin', () => {
  it('go given, environment, default', () => {
    expect(read({})).toEqual({ options: { Rate: 0.5, Label: 'none' }, warned: [] });
    expect(read({ PROBE_RATE: '0.25', PROBE_LABEL: 'a' })).toEqual({ options: { Rate: 0.25, Label: 'a' }, warned: [] });
    expect(read({ PROBE_RATE: '0.25' }, { Rate: 1 })).toEqual({ options: { Rate: 1, Label: 'none' }, warned: [] });
  });

  it('EI-E23: an unusable value of the environment is told and left out, whether reading it or the schema finds it', () => {
    expect(read({ PROBE_RATE: 'banana', PROBE_LABEL: 'a' })).toEqual({
      options: { Rate: 0.5, Label: 'a' },
      warned: ['warn PROBE_RATE'],
    });
    expect(read({ PROBE_RATE: '7', PROBE_LABEL: 'c' })).toEqual({
      options: { Rate: 0.5, Label: 'none' },
      warned: ['warn PROBE_RATE', 'warn PROBE_LABEL'],
    });
  });

  it('given ones that cannot be used are one sentence', () => {
    expect(() => read({}, { Rate: 2, Lable: 'x' })).toThrow(
      expect.objectContaining({
        code: 'ARGUMENT_INVALID',
        message: expect.stringMatching(/^the options of probe .*Rate/),
      }),
    );
  });
});
