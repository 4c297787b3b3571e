import type { InstanceDescription } from '@infrakit/core';

/** One entry of a source, as selectors and templates see it (EI §1.6). Members of a group have no properties. */
export type SourceItem = Pick<InstanceDescription, 'ID' | 'LogicalID' | 'Tags' | 'Properties' | 'Address'>;
