import type { ReasonCatalogue } from '@metal/kube/decide.ts';

/** Reasons that the boot service and the registry give on boot configurations; the words are those of v0.7.0. */
export const bootServiceReasons = {
  ValidationFailed: {
    meaning:
      'Image or ignition cannot be booted; the condition ImageValidation or IgnitionValidation says which and why.',
    remedy: 'Correct what the message names; the boot service looks again by itself.',
  },
  IPXEScriptDelivered: {
    meaning: 'The firmware of the machine fetched its boot script.',
    remedy:
      'Nothing; if no ignition follows, look at the console of the machine and at kernel and initrd of the image.',
  },
  IgnitionDataDelivered: {
    meaning: 'The booted system fetched its ignition.',
    remedy: 'Nothing; the machine is installing itself.',
  },
  BootStateReceived: {
    meaning: 'The booted system said that it is up.',
    remedy: 'Nothing; the boot is complete.',
  },
} as const satisfies ReasonCatalogue;

export type BootServiceReason = keyof typeof bootServiceReasons;
