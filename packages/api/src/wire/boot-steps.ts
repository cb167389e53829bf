/** Steps of a boot that have a deadline, in order. */
export const awaitedBootSteps = ['script', 'kernel', 'initrd', 'uki', 'ignition', 'probe'] as const;
export type AwaitedBootStep = (typeof awaitedBootSteps)[number];
