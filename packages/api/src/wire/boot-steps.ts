/** Steps of a boot that are waited for, in their order. */
export const awaitedBootSteps = ['script', 'kernel', 'initrd', 'uki', 'ignition', 'probe'] as const;
export type AwaitedBootStep = (typeof awaitedBootSteps)[number];
