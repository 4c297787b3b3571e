import type { InstanceSpec } from '@infrakit/core';
import { parseProperties } from '@infrakit/document';
import type { Flavor } from '@infrakit/spi';
import type { InitScripts } from './init-script.ts';
import { VanillaProperties } from './vanilla-properties.ts';

const properties = VanillaProperties.default({});

/** Lines under what is there already. */
const appended = (before: string, lines: readonly string[]): string =>
  [...(before === '' ? [] : [before]), ...lines].join('\n');

/** The plain flavor: init lines or a rendered script, tags and attachments; members are always healthy (GP §2.9). */
export const vanillaFlavor = (scripts: InitScripts): Flavor => ({
  validate: async (params, { signal }) => {
    const { InitScriptTemplateURL: url } = parseProperties('FLAVOR_INVALID', properties, params.properties);
    if (url !== undefined) await scripts.check(url, signal);
    return {};
  },
  prepare: async (params, { signal }) => {
    const {
      Init = [],
      InitScriptTemplateURL: url,
      Tags,
      Attachments = [],
    } = parseProperties('FLAVOR_INVALID', properties, params.properties);
    const { spec, index } = params;
    const lines = url === undefined ? Init : [await scripts.render(url, { spec, index }, signal)];
    const prepared: InstanceSpec = {
      ...spec,
      Tags: { ...spec.Tags, ...Tags },
      Init: appended(spec.Init, lines),
      Attachments: Attachments.length === 0 ? spec.Attachments : [...(spec.Attachments ?? []), ...Attachments],
    };
    return { spec: prepared };
  },
  healthy: async ({ instances }) => ({ health: instances.map(({ ID }) => ({ id: ID, health: 'healthy' })) }),
  drain: async () => ({}),
});
