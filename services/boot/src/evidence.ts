import type { BootServiceReason } from './reasons.ts';

/** What a boot leaves behind, in order, as conditions of its ServerBootConfiguration. Other programs know these words. */
export const evidence = {
  script: { type: 'IPXEScriptFetched', reason: 'IPXEScriptDelivered', message: 'The firmware fetched its boot script' },
  ignition: {
    type: 'IgnitionDataFetched',
    reason: 'IgnitionDataDelivered',
    message: 'The booted image fetched its ignition',
  },
  booted: { type: 'BootStateReceived', reason: 'BootStateReceived', message: 'Server successfully posted boot state' },
} as const satisfies Record<string, { type: string; reason: BootServiceReason; message: string }>;

export type Step = keyof typeof evidence;
