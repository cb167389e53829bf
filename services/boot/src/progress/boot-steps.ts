import type { BootServiceReason } from '../reasons.ts';

/** The conditions of a ServerBootConfiguration for boot steps. Other programs use them. */
export const stepConditions = {
  script: { type: 'IPXEScriptFetched', reason: 'IPXEScriptDelivered', message: 'The firmware fetched its boot script' },
  ignition: {
    type: 'IgnitionDataFetched',
    reason: 'IgnitionDataDelivered',
    message: 'The booted image fetched its ignition',
  },
  booted: { type: 'BootStateReceived', reason: 'BootStateReceived', message: 'Server successfully posted boot state' },
} as const satisfies Partial<Record<Step, { type: string; reason: BootServiceReason; message: string }>>;

/** The boot steps in `status.boot.steps`, with their order. */
export const stepRanks = {
  dhcp: 0,
  script: 1,
  kernel: 2,
  squashfs: 3,
  initrd: 3,
  uki: 3,
  ignition: 4,
  probe: 5,
  booted: 6,
} as const;

export type Step = keyof typeof stepRanks;

export const isStep = (name: string): name is Step => Object.hasOwn(stepRanks, name);
