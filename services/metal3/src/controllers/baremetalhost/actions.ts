import { rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { backOffMs } from '../../host/back-off.ts';
import { deploymentActions } from './deployment-actions.ts';
import { powerActions } from './power-actions.ts';
import { refuseCredentials, register } from './registration.ts';
import { clearedStatus } from './status-changes.ts';
import type { HostAction } from './types.ts';
import { type HostWork, record } from './work.ts';

/** One function per action: a call of the provisioner at most, and what it changes in the status. */
export const hostActions: { readonly [Action in HostAction]: (work: HostWork) => Promise<void> } = {
  refuseCredentials,
  register,
  ...deploymentActions,
  ...powerActions,

  async askForCapacity({ pass, provisioner, random }) {
    const isFree = await provisioner.hasCapacity();
    const isDelayed = pass.status.operationalStatus === 'delayed';
    pass.capacity = { isFree, retryMs: backOffMs(1, random) };
    if (!isFree) pass.status = { ...clearedStatus(pass.status), operationalStatus: 'delayed' };
    else if (isDelayed) pass.status = clearedStatus(pass.status);
  },

  async detach(work) {
    record(
      work,
      'detach',
      await work.provisioner.detach({ isForced: work.facts.detach?.isForced === true }),
      'detach error',
    );
    const { pass, outcomes } = work;
    if (outcomes.detach?.kind === 'unregistered') outcomes.detach = { kind: 'done' };
    if (outcomes.detach?.kind !== 'done') return;
    // No back end has the host any more, so that it may get another one.
    const provisioning = { ...pass.status.provisioning, ID: '' };
    pass.status = { ...clearedStatus(pass.status), errorCount: 0, operationalStatus: 'detached', provisioning };
  },

  async reattach({ pass, outcomes }) {
    const { status } = pass;
    const isDetachError = status.errorType === 'detach error';
    if (isDetachError) pass.status = { ...clearedStatus(status), errorCount: 0 };
    else pass.status = { ...status, operationalStatus: status.errorType === undefined ? 'OK' : 'error' };
    outcomes.reattach = { kind: 'changed' };
  },

  async deleteNode(work) {
    record(work, 'deleteNode', await work.provisioner.delete(), 'detach error');
    if (work.outcomes.deleteNode?.kind === 'unregistered') work.outcomes.deleteNode = { kind: 'done' };
  },

  async dropRebootRequest({ removeAnnotations }) {
    await removeAnnotations([rebootAnnotation]);
  },

  async releaseSecrets({ pass, releaseSecrets }) {
    await releaseSecrets();
    pass.isReleased = true;
  },
};
