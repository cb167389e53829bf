import { asBackEndFailure } from '../../errors.ts';
import { labelsOf } from '../../host-metrics.ts';
import { hostActions } from './actions.ts';
import { chooseRamdisk } from './ramdisk.ts';
import { type HostReconcile, workOf } from './run-work.ts';
import type { HostAction } from './types.ts';

const actionNames = Object.keys(hostActions) as HostAction[]; // the keys of a constant

/** The actions of the table, for the reconcile loop. What they throw changes nothing in the status. */
export const runActions = Object.fromEntries(
  actionNames.map((name) => [name, (reconcile: HostReconcile) => run(name, reconcile)]),
) as Readonly<Record<HostAction, (reconcile: HostReconcile) => Promise<void>>>; // one entry for each name

async function run(name: HostAction, reconcile: HostReconcile): Promise<void> {
  const { object, context, memory } = reconcile;
  const { hostMetrics } = context;
  const labels = labelsOf(object);
  try {
    if (name === 'register' && (await chooseRamdisk(reconcile)) === 'failed') return;
    if (name === 'powerOn' || name === 'powerOff')
      hostMetrics.count('powerChanges', { ...labels, on_off: name === 'powerOn' ? 'on' : 'off' });
    await hostActions[name](workOf(reconcile));
  } catch (error) {
    hostMetrics.count('reconcileErrors', labels);
    if (name === 'register') hostMetrics.count('noManagementAccess', labels);
    throw asBackEndFailure(error);
  }
  // With the annotation that does not delay it, a deletion asks for neither.
  if (reconcile.facts.isDeleting && (name === 'detach' || name === 'reattach'))
    hostMetrics.count('deletionsDelayed', labels);
  if (memory.pass.outcomes[reconcile.facts.state]?.deprovision?.kind === 'unregistered')
    hostMetrics.count('registrationsRequired', labels);
}
