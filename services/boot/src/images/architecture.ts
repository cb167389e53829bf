import type { Server } from '@metal/api/v1alpha1/server.ts';

/** Redfish architectures, and those of OCI. */
const architectures: readonly [RegExp, string][] = [
  [/arm|aarch/i, 'arm64'],
  [/x86/i, 'amd64'],
];

export function architectureOf(server: Server | undefined): string | undefined {
  const { architecture = '', instructionSet = '' } =
    server?.status?.processors?.find(({ type }) => type !== 'GPU') ?? {};
  return architectures.find(([pattern]) => pattern.test(`${architecture} ${instructionSet}`))?.[1];
}
