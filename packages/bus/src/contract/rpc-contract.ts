import type { ContractSuite } from '@infrakit/spi';
import { rpcCallCases } from './rpc-call-cases.ts';
import { rpcFaultCases } from './rpc-fault-cases.ts';
import { rpcRefusalCases } from './rpc-refusal-cases.ts';
import type { RpcSubject } from './rpc-scene.ts';

/** What calls over any broker must do (DESIGN §3). */
export const rpcContract: ContractSuite<RpcSubject> = {
  name: 'RPC',
  cases: [...rpcCallCases, ...rpcRefusalCases, ...rpcFaultCases],
};
