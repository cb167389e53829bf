import type { Writer } from './rbac.ts';

/** What the services beside the controllers write. Controllers say it themselves. */
export const serviceWriters: readonly Writer[] = [
  { name: 'registry', writes: ['serverinventories', 'erasurereports', 'serverbootconfigurations/status'] },
  {
    name: 'boot',
    writes: [
      'serverbootconfigurations/status',
      'ipxebootconfigs',
      'ipxebootconfigs/status',
      'httpbootconfigs',
      'httpbootconfigs/status',
    ],
  },
  { name: 'dhcp', writes: ['endpoints'] },
  { name: 'index of MAC addresses', writes: ['macaddressindexes'] },
];
