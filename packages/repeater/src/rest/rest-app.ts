import swagger from '@fastify/swagger';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type AppChange, AppRuleState, type AppRules } from './app-rule.ts';
import { guard, type RestAccess } from './rest-access.ts';
import { RestError, RuleList, RuleSink, withLowerKeys } from './rest-body.ts';

const maxBodyBytes = 1024 * 1024;
const notJson = 'FST_ERR_CTP_INVALID_JSON_BODY';
const allowed = 'GET, HEAD, POST, PUT, DELETE';
const Nothing = z.null().meta({ description: 'done' });

const errors = {
  400: RestError.meta({ description: 'something is wrong with the rules; nothing was changed' }),
  404: RestError.meta({ description: 'there is no such rule; nothing was changed' }),
  409: RestError.meta({ description: 'there is such a rule already; nothing was changed' }),
};

const sentenceOf = (
  change: Exclude<AppChange, { kind: 'done' }>,
): { readonly code: number; readonly body: RestError } => {
  switch (change.kind) {
    case 'invalid':
      return { code: 400, body: { error: change.faults.join('; ') } };
    case 'conflict':
      return { code: 409, body: { error: 'there is a rule for this already', topics: [...change.topics] } };
    case 'missing':
      return { code: 404, body: { error: 'there is no rule for this', topics: [...change.topics] } };
    default:
      return change satisfies never;
  }
};

const isOurs = (url: string): boolean => /^\/(events(\/|\?|$)|openapi\.json(\?|$))/.test(url);

const answerErrors = (app: FastifyInstance): void => {
  app.setNotFoundHandler((request, reply) => {
    if (!isOurs(request.url)) return reply.code(404).send({ error: `there is nothing at ${request.url}` });
    return reply
      .code(405)
      .header('allow', allowed)
      .send({ error: `${request.method} is none of ${allowed}` });
  });
  app.setErrorHandler((error: Pick<FastifyError, 'message' | 'code' | 'statusCode'>, _request, reply) => {
    const { statusCode = 500, code, message } = error;
    return reply.code(statusCode).send({ error: code === notJson ? 'the body is no JSON' : message });
  });
};

/** Bodies are JSON whatever they are called: old clients did not say. */
const readJson = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text.trim() === '') done(null, undefined);
    else parse(request, text, done);
  });
  app.addHook('preValidation', async (request) => {
    request.body = withLowerKeys(request.body);
  });
};

const routes = (plain: FastifyInstance, rules: AppRules): void => {
  const app = plain.withTypeProvider<ZodTypeProvider>();

  const send = async (reply: FastifyReply, change: Promise<AppChange>, code: (created: number) => number) => {
    const result = await change;
    if (result.kind !== 'done') {
      const { code: failed, body } = sentenceOf(result);
      return reply.code(failed).send(body);
    }
    const success = code(result.created);
    return success === 204 ? reply.code(success).send() : reply.code(success).send(await rules.list());
  };

  for (const [url, hide] of [
    ['/events', false],
    ['/events/', true],
  ] as const) {
    app.get(url, { schema: { hide, summary: 'List the rules', response: { 200: z.array(AppRuleState) } } }, async () =>
      rules.list(),
    );
    app.post(
      url,
      { schema: { hide, summary: 'Add rules', body: RuleList, response: { 201: z.array(AppRuleState), ...errors } } },
      (request, reply) => send(reply, rules.add(request.body), () => 201),
    );
    app.put(
      url,
      {
        schema: {
          hide,
          summary: 'Add rules, or change their sink topics',
          body: RuleList,
          response: { 200: z.array(AppRuleState), ...errors },
        },
      },
      (request, reply) => send(reply, rules.put(request.body), () => 200),
    );
    app.delete(
      url,
      { schema: { hide, summary: 'Remove rules', body: RuleList, response: { 204: Nothing, ...errors } } },
      (request, reply) => send(reply, rules.remove(request.body.map(({ sourcetopic }) => sourcetopic)), () => 204),
    );
  }

  // A topic has slashes: encoded ones are one parameter, others fall to the second form.
  const one = [
    { url: '/events/:topic', hide: false, params: z.object({ topic: z.string() }) },
    { url: '/events/*', hide: true, params: z.object({ '*': z.string() }).transform((all) => ({ topic: all['*'] })) },
  ] as const;
  for (const { url, hide, params } of one) {
    app.get(
      url,
      { schema: { hide, summary: 'Show a rule', params, response: { 200: AppRuleState, ...errors } } },
      async ({ params: { topic } }, reply) => {
        const found = (await rules.list()).find(({ sourcetopic }) => sourcetopic === topic);
        if (found !== undefined) return reply.send(found);
        return reply.code(404).send({ error: 'there is no rule for this', topics: [topic] });
      },
    );
    app.post(
      url,
      {
        schema: {
          hide,
          summary: 'Add a rule',
          params,
          body: RuleSink.nullish(),
          response: { 201: z.array(AppRuleState), ...errors },
        },
      },
      ({ params: { topic }, body }, reply) =>
        send(reply, rules.add([{ sourcetopic: topic, sinktopic: body?.sinktopic ?? '' }]), () => 201),
    );
    app.put(
      url,
      {
        schema: {
          hide,
          summary: 'Add a rule, or change its sink topic',
          params,
          body: RuleSink.nullish(),
          response: { 200: z.array(AppRuleState), 201: z.array(AppRuleState), ...errors },
        },
      },
      ({ params: { topic }, body }, reply) =>
        send(reply, rules.put([{ sourcetopic: topic, sinktopic: body?.sinktopic ?? '' }]), (created) =>
          created > 0 ? 201 : 200,
        ),
    );
    app.delete(
      url,
      { schema: { hide, summary: 'Remove a rule', params, response: { 204: Nothing, ...errors } } },
      ({ params: { topic } }, reply) => send(reply, rules.remove([topic]), () => 204),
    );
  }
};

/**
 * The REST interface of the old application (GP §6.4, §6.5), with its description at `/openapi.json`; it does not listen yet. A
 * request that has not come as a whole within `requestTimeoutMs` is answered 408, and its connection is ended.
 */
export const restApp = async (
  rules: AppRules,
  options: { readonly access: RestAccess; readonly version: string; readonly requestTimeoutMs?: number },
): Promise<FastifyInstance> => {
  const { access, version, requestTimeoutMs = 20_000 } = options;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    // Node exchanges the two where the first is the longer one; and how often they are looked at.
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: requestTimeoutMs / 4 },
    routerOptions: { maxParamLength: 65_535 },
    forceCloseConnections: true,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  guard(app, access);
  readJson(app);
  answerErrors(app);
  await app.register(swagger, {
    openapi: {
      info: { title: 'infrakit event repeater', description: 'Rules of what is mirrored where', version },
      ...(access.kind === 'token' && {
        components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
        security: [{ bearer: [] }],
      }),
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(async (scope) => routes(scope, rules));
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.ready();
  return app;
};
