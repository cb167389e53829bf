import type { ServerAction, ServerFacts } from '@metal/operator/inventory/server/facts.ts';
import { calmServer } from '@metal/operator/inventory/server/phases.rows.ts';

/** Actions that change a machine, with the facts they act on. */
export const deeds: readonly [ServerAction, Partial<ServerFacts>][] = [
  ['powerOff', {}],
  ['forceOff', {}],
  ['networkBoot', {}],
  ['diskBoot', {}],
  ['setLight', { light: { wish: 'Lit', settled: false, refusal: undefined } }],
  ['setBootOrder', { bootOrder: { wish: 'Boot0002', settled: false, refusal: undefined } }],
  ['resetBios', {}],
  ['restoreBootOrder', { cleanup: { ...calmServer.cleanup, bootOrder: { kind: 'due', devices: ['Boot0002'] } } }],
  ['clearOverride', {}],
];
