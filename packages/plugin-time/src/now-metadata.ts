import { treeMetadata } from '@infrakit/runtime';
import type { MetadataSource } from '@infrakit/spi';

/** The metadata `now/nano` and `now/sec`, evaluated on each read (GP §3.4); nanoseconds are whole microseconds here. */
export const nowMetadata = (nowMs: () => number): MetadataSource =>
  treeMetadata(() => ({ now: { nano: Math.floor(nowMs() * 1_000) * 1_000, sec: Math.floor(nowMs() / 1_000) } }));
