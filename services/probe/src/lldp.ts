import type { ProbeReport } from '@metal/api/wire/probe-report.ts';

export type LldpInterface = ProbeReport['lldp'][number];
export type LldpNeighbour = NonNullable<LldpInterface['neighbors']>[number];

/**
 * Neighbours from the output of `lldpctl -f json`. Its shape depends on the number of items: a list of one becomes the item
 * itself, and named items become keys. Unknown parts are ignored.
 */
export function lldpFrom(output: unknown): LldpInterface[] {
  return entriesOf(at(output, 'lldp', 'interface')).map(([name, port]) => ({ name, neighbors: neighboursOf(port) }));
}

function neighboursOf(port: unknown): LldpNeighbour[] {
  const chassis = at(port, 'chassis');
  // A chassis without a system name has no key.
  if (isRecord(chassis) && isRecord(chassis.id)) return [neighbourOf('', chassis, port)];
  return entriesOf(chassis).map(([systemName, details]) => neighbourOf(systemName, details, port));
}

function neighbourOf(systemName: string, chassis: unknown, port: unknown): LldpNeighbour {
  return {
    chassisId: text(at(chassis, 'id', 'value')),
    portId: text(at(port, 'port', 'id', 'value')),
    portDescription: text(at(port, 'port', 'descr')),
    systemName,
    systemDescription: text(at(chassis, 'descr')),
    mgmtIp: text(listOf(at(chassis, 'mgmt-ip'))[0]),
    capabilities: capabilitiesOf(chassis),
    vlanId: vlanOf(port),
  };
}

const capabilitiesOf = (chassis: unknown): string[] =>
  listOf(at(chassis, 'capability'))
    .filter((capability) => at(capability, 'enabled') === true)
    .map((capability) => text(at(capability, 'type')))
    .filter((type) => type !== '');

/** The VLAN that is marked as the PVID, else the first one. */
function vlanOf(port: unknown): string {
  const vlans = listOf(at(port, 'vlan'));
  return text(at(vlans.find((vlan) => at(vlan, 'pvid') === true) ?? vlans[0], 'vlan-id'));
}

/** Named items: one object keyed by name, or a list of objects with one key each. */
function entriesOf(value: unknown): [string, unknown][] {
  return listOf(value).flatMap((part) => (isRecord(part) ? Object.entries(part) : []));
}

const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
