/** Minor versions of the API that change what a client can do, latest first: it asks for no other. */
export const microversions = [110, 109, 95, 93, 89] as const;
export type Microversion = (typeof microversions)[number];

/** The latest known version that Ironic supports; undefined if it is too old. @param newest such as 1.115 */
export function microversionFor(newest: string): Microversion | undefined {
  const minor = Number(/^1\.(\d+)$/.exec(newest)?.[1] ?? 0);
  return microversions.find((version) => version <= minor);
}

/** By the first version that has it. */
export const features = {
  readVirtualMedia: 93,
  disablePowerOff: 95,
  health: 109,
  abortDeployment: 110,
} as const satisfies Record<string, Microversion>;
export type Feature = keyof typeof features;
