import { compile, compileValue, instanceData, unescape as unescapeBraces } from '@infrakit/template';
import { Eta } from 'eta';
import Handlebars from 'handlebars';

const rounds = 11;
const roundMs = 60;

/** Microseconds a call takes: the median of some rounds, each about as long, after one to warm up. */
const microseconds = (call: () => unknown): number => {
  const timed = (calls: number): number => {
    const startedMs = performance.now();
    for (let i = 0; i < calls; i++) call();
    return performance.now() - startedMs;
  };
  let calls = 1;
  while (timed(calls) < roundMs / 4) calls *= 2;
  calls *= 4;
  timed(calls);
  const perCall = Array.from({ length: rounds }, () => (timed(calls) * 1_000) / calls).sort((a, b) => a - b);
  return Math.round((perCall[Math.floor(rounds / 2)] ?? 0) * 1_000) / 1_000;
};

const description = {
  ID: 'web-a',
  LogicalID: 'slot-7',
  Tags: { zone: 'b', 'infrakit.group': 'web' },
  Properties: { slot: 7, address: '10.4.0.7', labels: { tier: 'gold' } },
};

/** The same instance for engines that know no raw JSON: properties are text. */
const plain = { ...description, Properties: JSON.stringify(description.Properties) };

/** The Provision properties of an enrollment rule, with ten leaves. */
const properties = {
  client: '\\{\\{ .ID \\}\\}',
  host: '\\{\\{ .LogicalID \\}\\}.cluster.lan',
  zone: '\\{\\{ .Tags.zone \\}\\}',
  group: '\\{\\{ index .Tags "infrakit.group" \\}\\}',
  address: '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ $p.address \\}\\}/32',
  slot: '\\{\\{ $q := .Properties | jsonDecode \\}\\}\\{\\{ int $q.slot \\}\\}',
  name: '\\{\\{ .ID | upper \\}\\}',
  access: { mode: 'rw', tier: '\\{\\{ if .Tags.zone \\}\\}zoned\\{\\{ else \\}\\}global\\{\\{ end \\}\\}' },
  weight: 3,
};

const handlebars = Handlebars.create();
handlebars.registerHelper({
  jsonDecode: (text: string) => JSON.parse(text) as unknown,
  int: (value: unknown) => Math.trunc(Number(value)),
  upper: (text: string) => text.toUpperCase(),
});
const handlebarsOptions = { noEscape: true, strict: true };

const eta = new Eta({ autoEscape: false });

/** Each template in three languages; what they render is compared before anything is measured. */
const templates = {
  field: {
    ours: '{{.ID}}',
    handlebars: '{{ID}}',
    eta: '<%= it.ID %>',
  },
  selector: {
    ours: unescapeBraces('\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.slot \\}\\}'),
    handlebars: '{{#with (jsonDecode Properties)}}{{int slot}}{{/with}}',
    eta: '<% const p = JSON.parse(it.Properties) %><%= Math.trunc(p.slot) %>',
  },
};

const provisionText = {
  handlebars: `{{#with (jsonDecode Properties) as |p|}}{"access":{"mode":"rw","tier":"{{#if ../Tags.zone}}zoned{{else}}global{{/if}}"},"address":"{{p.address}}/32",{{/with}}"client":"{{ID}}","group":"{{lookup Tags "infrakit.group"}}","host":"{{LogicalID}}.cluster.lan","name":"{{upper ID}}",{{#with (jsonDecode Properties) as |q|}}"slot":"{{int q.slot}}",{{/with}}"weight":3,"zone":"{{Tags.zone}}"}`,
  eta: `<% const p = JSON.parse(it.Properties) %>{"access":{"mode":"rw","tier":"<% if (it.Tags.zone) { %>zoned<% } else { %>global<% } %>"},"address":"<%= p.address %>/32","client":"<%= it.ID %>","group":"<%= it.Tags["infrakit.group"] %>","host":"<%= it.LogicalID %>.cluster.lan","name":"<%= it.ID.toUpperCase() %>",<% const q = JSON.parse(it.Properties) %>"slot":"<%= Math.trunc(q.slot) %>","weight":3,"zone":"<%= it.Tags.zone %>"}`,
};

const same = (name: string, results: readonly string[]): void => {
  if (new Set(results).size !== 1) {
    throw new Error(`the engines render ${name} differently: ${results.join(' | ')}`);
  }
};

const figuresOf = (name: keyof typeof templates): Record<string, number> => {
  const text = templates[name];
  const ours = compile(text.ours, { deterministic: true });
  const theirs = handlebars.compile(text.handlebars, handlebarsOptions);
  const etas = eta.compile(text.eta).bind(eta);
  const calls = {
    ours: () => ours.render(instanceData(description)),
    handlebars: () => theirs(plain),
    eta: () => etas(plain),
  };
  same(name, [calls.ours(), calls.handlebars(), calls.eta()]);
  return {
    [`${name}_us`]: microseconds(calls.ours),
    [`handlebars_${name}_us`]: microseconds(calls.handlebars),
    [`eta_${name}_us`]: microseconds(calls.eta),
  };
};

const provisionFigures = (): Record<string, number> => {
  const ours = compileValue(properties);
  const theirs = handlebars.compile(provisionText.handlebars, handlebarsOptions);
  const etas = eta.compile(provisionText.eta).bind(eta);
  const calls = {
    ours: () => ours.render(instanceData(description)),
    handlebars: () => JSON.parse(theirs(plain)) as unknown,
    eta: () => JSON.parse(etas(plain)) as unknown,
  };
  same(
    'the properties',
    Object.values(calls).map((call) => JSON.stringify(call())),
  );
  return {
    provision_us: microseconds(calls.ours),
    handlebars_provision_us: microseconds(calls.handlebars),
    eta_provision_us: microseconds(calls.eta),
  };
};

/** Compiling happens once for an accepted spec, never for an entry; handlebars compiles at the first rendering. */
const compileFigures = (): Record<string, number> => ({
  compile_selector_us: microseconds(() => compile(templates.selector.ours, { deterministic: true })),
  handlebars_compile_selector_us: microseconds(() =>
    handlebars.compile(templates.selector.handlebars, handlebarsOptions)(plain),
  ),
  eta_compile_selector_us: microseconds(() => eta.compile(templates.selector.eta)),
});

/**
 * Microseconds for one rendering: a field, the selector of EI §1.13 B, and Provision properties of ten leaves as a JSON value,
 * beside handlebars and eta on templates that render the same. `field_plain_us` renders plain data, the others an instance.
 */
export const run = async (): Promise<Record<string, number>> => {
  const plainField = compile('{{.ID}}');
  return {
    field_plain_us: microseconds(() => plainField.render(description)),
    ...figuresOf('field'),
    ...figuresOf('selector'),
    ...provisionFigures(),
    ...compileFigures(),
  };
};
