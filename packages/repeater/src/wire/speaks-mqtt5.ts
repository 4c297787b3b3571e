import { toAppError } from '@infrakit/core';
import type { Endpoint } from '../link/endpoint.ts';
import { type ConnectDeps, connectTo, leave } from '../link/link-connect.ts';
import { isOtherVersion } from './handshake.ts';

/** Whether a broker speaks MQTT 5, or why that cannot be told now. */
export type SpeaksMqtt5 = { readonly kind: 'yes' | 'no' } | { readonly kind: 'unknown'; readonly reason: string };

/** Asks a broker whether it speaks MQTT 5. */
export const speaksMqtt5 = async (endpoint: Endpoint, clientId: string, deps: ConnectDeps): Promise<SpeaksMqtt5> => {
  try {
    const { stream } = await connectTo(endpoint, { clientId, clean: true, keepaliveS: 10, version: 5 }, deps);
    await leave(stream, deps.clock);
    return { kind: 'yes' };
  } catch (thrown) {
    const error = toAppError(thrown);
    return isOtherVersion(error) ? { kind: 'no' } : { kind: 'unknown', reason: error.message };
  }
};
