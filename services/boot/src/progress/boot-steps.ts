import type { BootServiceReason } from '../reasons.ts';

/** What a boot leaves behind as conditions of its ServerBootConfiguration. Other programs know these words. */
export const stepConditions = {
  script: { type: 'IPXEScriptFetched', reason: 'IPXEScriptDelivered', message: 'The firmware fetched its boot script' },
  ignition: {
    type: 'IgnitionDataFetched',
    reason: 'IgnitionDataDelivered',
    message: 'The booted image fetched its ignition',
  },
  booted: { type: 'BootStateReceived', reason: 'BootStateReceived', message: 'Server successfully posted boot state' },
} as const satisfies Partial<Record<Step, { type: string; reason: BootServiceReason; message: string }>>;

/** Everything a boot leaves behind in `status.boot.steps`, in order. The number says how far it is when that is seen. */
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
