import { Counter, type Registry } from 'prom-client';
import type { LeaseEvent } from './lease-events.ts';

/** Label values by the events of dnsmasq. */
const events: Readonly<Record<LeaseEvent['event'], string>> = { add: 'given', old: 'renewed', del: 'ended' };

/** Counts lease events. */
export function countLeases(metrics: Registry | undefined): (event: LeaseEvent) => void {
  if (metrics === undefined) return () => undefined;
  const leases = new Counter({
    name: 'metal_dhcp_leases_total',
    help: 'Lease events: given, renewed or ended',
    labelNames: ['event'],
    registers: [metrics],
  });
  return ({ event }) => leases.inc({ event: events[event] });
}
