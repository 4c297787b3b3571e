import { describe } from 'vitest';
import { rpcContractTests } from '../rpc-contracts.ts';
import { brokers } from './brokers.ts';

describe.each(brokers)('through the RPC proxy, on %s', (_, start) => rpcContractTests(start));
