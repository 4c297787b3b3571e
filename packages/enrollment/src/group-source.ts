import { AppError, type MembersAnswer, toAppError } from '@infrakit/core';
import type { Source } from '@infrakit/runtime';
import {
  type CallContext,
  type Events,
  type Group,
  groupInterface,
  type Log,
  type Plugins,
  type Presence,
} from '@infrakit/spi';
import { concat, defer, finalize, of, switchMap, tap } from 'rxjs';
import type { EnrollmentSource } from './source.ts';
import type { SourceItem } from './source-item.ts';

/** What the members of a group are read with. */
export interface GroupSourceDeps {
  readonly plugins: Plugins;
  readonly events: Events;
  readonly log: Log;
  /** Under which name departures are kept for us until we acknowledge them. */
  readonly consumer: string;
}

interface Last {
  readonly digest: string;
  readonly source: Source<SourceItem>;
}

type Members = Extract<MembersAnswer, { kind: 'members' }>;

const sourceOf = ({ membership, members, departures }: Members): Source<SourceItem> => {
  switch (membership.kind) {
    case 'known': {
      const { count, target, revision, phase } = membership;
      return { kind: 'known', items: members, count, target, revision, phase, departures };
    }
    case 'partial':
      return { kind: 'partial', reason: membership.reason, items: members };
    case 'unknown':
      return { kind: 'unknown', reason: membership.reason };
    default:
      return membership satisfies never;
  }
};

/** Its member events; of a group whose name would read as a filter, all events there are: they are hints. */
const topicsOf = (group: string): string => (/[+#]/.test(group) ? '.' : `${group}/member/`);

/**
 * The members of a group, by `<plugin>/<group>`, directly or through a manager (DESIGN §3 Membership). While the plugin is
 * away a read fails, and then the source is unknown (Law 1, EI-E14). Departures since the last settled revision come with
 * the members and explain who left (Law 6). A rule whose loop runs is registered as a consumer, so that the group keeps them
 * until they are acknowledged; a plan that is only shown registers nothing (Law 3). Hints: the group's member events, and
 * each coming and going of its plugin.
 */
export const groupSource = (name: string, object: string, deps: GroupSourceDeps): EnrollmentSource => {
  const { plugins, events, log, consumer } = deps;
  const group = plugins.resolve(groupInterface, name);
  let isLive = false;
  let isRegistered = false;
  let incarnation: string | undefined;
  let since = 0;
  let last: Last | undefined;
  let keeper = group;

  /** Tells the group something; one that is managed is told through its manager, whoever named it directly. */
  const tell = async (call: (to: Group) => Promise<unknown>): Promise<void> => {
    try {
      await call(keeper);
    } catch (thrown) {
      const { code, facts } = toAppError(thrown);
      if (code !== 'OBJECT_MANAGED' || typeof facts.proxy !== 'string') throw thrown;
      keeper = plugins.resolve(groupInterface, facts.proxy);
      await call(keeper);
    }
  };

  const register = async (ctx: CallContext): Promise<void> => {
    try {
      await tell((to) => to.registerConsumer({ name: object, consumer }, ctx));
      isRegistered = true;
    } catch (thrown) {
      // Without it departures may be forgotten early: then they are unexplained, and the budget holds (Law 6).
      log.debug({ group: name, consumer, error: toAppError(thrown).message }, 'not registered as a consumer');
    }
  };

  const ask = (ctx: CallContext): Promise<MembersAnswer> =>
    group.members(
      {
        name: object,
        ...(last === undefined ? {} : { digest: last.digest }),
        ...(since === 0 ? {} : { sinceRevision: since }),
      },
      ctx,
    );

  const take = (answer: MembersAnswer): Source<SourceItem> => {
    if (answer.kind === 'unchanged') {
      if (answer.digest === last?.digest) return last.source;
      throw new AppError('RESULT_INVALID', `${name} answered unchanged to a digest that it was not sent`);
    }
    const source = sourceOf(answer);
    last = answer.membership.kind === 'known' ? { digest: answer.membership.digest, source } : undefined;
    return source;
  };

  const read = async (ctx: CallContext): Promise<Source<SourceItem>> => {
    if (isLive && !isRegistered) await register(ctx);
    const source = take(await ask(ctx));
    if (source.kind !== 'known' || (source.revision ?? 0) >= since) return source;
    // The group was made anew and counts from the beginning: what we settled is not what it means.
    since = 0;
    last = undefined;
    isRegistered = false;
    return take(await ask(ctx));
  };

  const met = (presence: Presence): void => {
    if (presence.kind === 'online' && presence.incarnation === incarnation) return;
    incarnation = presence.kind === 'online' ? presence.incarnation : undefined;
    last = undefined;
    keeper = group;
    isRegistered = false;
  };

  const triggers = defer(() => {
    isLive = true;
    return plugins.watch(name).pipe(
      tap(met),
      switchMap((presence) =>
        presence.kind === 'online'
          ? concat(of(presence), events.subscribe(presence.plugin, topicsOf(object)))
          : of(presence),
      ),
      finalize(() => {
        isLive = false;
      }),
    );
  });

  return {
    read,
    triggers,
    settled: async (revision, ctx) => {
      if (isRegistered) await tell((to) => to.acknowledge({ name: object, consumer, revision }, ctx));
      since = revision;
    },
    leave: async (isSame, ctx) => {
      if (!isSame) await tell((to) => to.unregisterConsumer({ name: object, consumer }, ctx));
    },
  };
};
