import type { Node } from './node.ts';
import { profiles } from './profiles.ts';

export interface MacPrefixOptions {
  readonly nodes: readonly Node[];
  /** The credentials of the fleet; a BMC with others has an entry of its own. */
  readonly credentials: { readonly username: string; readonly password: string };
  readonly protocolScheme: 'http' | 'https';
  readonly port: number;
  /** Port of the SSH shells. */
  readonly shellPort: number;
}

/** The MAC prefix database of these BMCs, as YAML. No two entries match the same address. */
export function macPrefixYaml({ nodes, credentials, protocolScheme, port, shellPort }: MacPrefixOptions): string {
  const prefixes = new Map<string, string>();
  for (const { macPrefix, manufacturer } of Object.values(profiles)) prefixes.set(macPrefix, manufacturer);
  for (const { bmc } of nodes) prefixes.set(bmc.profile.macPrefix, bmc.profile.manufacturer);
  const hasDefaultCredentials = ({ bmc }: Node) =>
    bmc.username === credentials.username && bmc.password === credentials.password;
  const mixed = new Set(nodes.filter((node) => !hasDefaultCredentials(node)).map(({ bmc }) => bmc.profile.macPrefix));
  const whole = [...prefixes]
    .filter(([macPrefix]) => !mixed.has(macPrefix))
    .map(([macPrefix, manufacturer]) => ({ macPrefix, manufacturer, credentials }));
  const single = nodes
    .filter(({ bmc }) => mixed.has(bmc.profile.macPrefix))
    .map(({ bmc: { macAddress, profile, username, password } }) => ({
      macPrefix: macAddress.replaceAll(':', ''),
      manufacturer: profile.manufacturer,
      credentials: { username, password },
    }));
  const entries = [...whole, ...single].map((entry) => entryYaml(entry, { protocolScheme, port, shellPort }));
  return `macPrefixes:\n${entries.join('')}`;
}

/** A JSON text is a quoted YAML scalar, so that no prefix is read as a number. Lower case, as endpoints write them. */
function entryYaml(
  {
    macPrefix,
    manufacturer,
    credentials,
  }: { macPrefix: string; manufacturer: string; credentials: MacPrefixOptions['credentials'] },
  { protocolScheme, port, shellPort }: Pick<MacPrefixOptions, 'protocolScheme' | 'port' | 'shellPort'>,
): string {
  return `  - macPrefix: ${JSON.stringify(macPrefix.toLowerCase())}
    manufacturer: ${JSON.stringify(manufacturer)}
    protocol: Redfish
    protocolScheme: ${protocolScheme}
    port: ${port}
    type: bmc
    defaultCredentials:
      - username: ${JSON.stringify(credentials.username)}
        password: ${JSON.stringify(credentials.password)}
    console:
      type: SSH
      port: ${shellPort}
`;
}
