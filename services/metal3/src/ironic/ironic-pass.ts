import type { HostAccess } from '../provisioner/back-end.ts';
import type { NodeAddress } from './node/node-address.ts';
import type { NodeSession } from './node/node-session.ts';
import type { IronicOptions } from './options.ts';

/** One pass over one host: what its operations need. */
export interface IronicPass {
  readonly access: HostAccess;
  readonly session: NodeSession;
  readonly options: IronicOptions;
  /** Of the BMC. */
  readonly address: NodeAddress;
}

/** Name of the node: names of hosts are unique in their namespace only. */
export const nodeName = ({ metadata }: HostAccess['host']): string => `${metadata.namespace ?? ''}~${metadata.name}`;
