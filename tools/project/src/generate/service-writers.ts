import type { Writer } from './rbac.ts';

/** Writes of the services. Controllers declare their own. */
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
