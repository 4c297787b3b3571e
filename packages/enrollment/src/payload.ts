import { AppError, type InstanceSpec, ownerTags, type Tags } from '@infrakit/core';
import { compileValue, instanceData, TemplateError, type ValueTemplate } from '@infrakit/template';
import type { SourceItem } from './source-item.ts';

/** What Provision is asked for, for one source entry. */
export interface Payload {
  /** The properties alone: what an idempotency key hashes (Law 7). `SPEC_TEMPLATE` when they cannot be rendered. */
  readonly propertiesOf: (item: SourceItem) => unknown;
  readonly specOf: (item: SourceItem) => InstanceSpec;
}

const description = ({ ID, LogicalID, Tags, Properties }: SourceItem): unknown => ({
  ID,
  LogicalID,
  Tags,
  ...(Properties === undefined ? {} : { Properties }),
});

const name = 'Instance.Properties';

/**
 * The template of the properties. Functions whose answer may change are refused: a Provision that is sent again must ask for
 * the same thing (Law 7), and controllers read nothing from outside (EI-E17).
 */
const compileProperties = (properties: unknown): ValueTemplate => {
  compileValue(properties, { name });
  try {
    return compileValue(properties, { name, deterministic: true });
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    const reason = `function "${thrown.offendingName}" is not allowed: its answer may change from one Provision to the next`;
    throw new AppError('SPEC_TEMPLATE', `${name}: ${reason}`, { cause: thrown });
  }
};

/**
 * Compiles what is provisioned (EI §1.10): the rendered properties, or the description of the source entry where there are
 * none; the labels and those that make the entry ours, ours winning, in a new map for each entry (EI-E2). Throws a
 * TemplateError, or `SPEC_TEMPLATE`.
 */
export const compilePayload = (
  instance: { readonly Properties?: unknown; readonly Labels?: Tags | undefined },
  { owner, rule }: { readonly owner: string; readonly rule: string },
): Payload => {
  const { Properties, Labels = {} } = instance;
  const template = Properties === undefined || Properties === null ? undefined : compileProperties(Properties);
  const rendered = new WeakMap<SourceItem, { readonly value: unknown }>();

  const render = (item: SourceItem): unknown => {
    if (template === undefined) return description(item);
    try {
      return template.render(instanceData(item));
    } catch (thrown) {
      if (!(thrown instanceof TemplateError)) throw thrown;
      const where = thrown.templateName.replaceAll('/', '.');
      throw new AppError('SPEC_TEMPLATE', `${where} of ${item.ID}: ${thrown.reason}`, { cause: thrown });
    }
  };
  const propertiesOf = (item: SourceItem): unknown => {
    const before = rendered.get(item);
    if (before !== undefined) return before.value;
    const value = render(item);
    rendered.set(item, { value });
    return value;
  };
  return {
    propertiesOf,
    specOf: (item) => ({
      Properties: propertiesOf(item),
      Tags: { ...Labels, ...ownerTags(owner, rule, item.ID) },
      Init: '',
      LogicalID: null,
      Attachments: null,
    }),
  };
};
