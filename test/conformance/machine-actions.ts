import type { ServerAction, ServerFacts } from '@metal/operator/controllers/server/types.ts';
import { calmServer } from '@metal/operator/test/server/table.rows.ts';

/** Actions that change a machine, with their facts. */
export const machineActions: readonly [ServerAction, Partial<ServerFacts>][] = [
  ['powerOff', {}],
  ['forceOff', {}],
  ['networkBoot', {}],
  ['diskBoot', {}],
  ['setLight', { light: { desired: 'Lit', isDone: false, rejection: undefined } }],
  [
    'setBootOrder',
    { bootOrder: { desired: 'Boot0002', isDone: false, rejection: undefined }, bootOrderDevices: ['Boot0002'] },
  ],
  ['resetBios', {}],
  ['restoreBootOrder', { cleanup: { ...calmServer.cleanup, bootOrder: { kind: 'due', devices: ['Boot0002'] } } }],
  ['clearOverride', {}],
];
