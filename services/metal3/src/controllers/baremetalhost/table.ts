import { act, go, type PhaseTable, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { managed, row } from './before.ts';
import { decideNextForDeletion, deleteNode, stepOrGiveUp } from './deletion.ts';
import { managePower } from './power.ts';
import type { HostReason } from './reasons.ts';
import { enter, type HostDecision, result, step, storeChanges } from './steps.ts';
import type { HostAction, HostFacts, HostState } from './types.ts';

const unmanagedPollMs = minutes(10);
const firmwarePollMs = seconds(60);

/** A free host. `ready` is the name of former versions. */
const available = managed(['externally provisioned', 'inspecting', 'preparing', 'provisioning'], (host) => {
  const { deployment, firmware } = host;
  if (host.isExternallyProvisioned) return go('externally provisioned', 'ExternallyProvisioned');
  if (host.inspection === 'requested') return enter(host, 'inspecting', 'InspectionRequested');
  if (firmware === 'unread') return wait(firmwarePollMs, 'FirmwareUnread');
  if (host.hasNewSettings || firmware === 'changed') return go('preparing', 'SettingsChanged');
  if (!host.isOnline || !deployment.isWanted) return managePower(host);
  if (!host.isBelowRetryLimit) return step(host, 'refuseProvisioning') ?? wait(0, 'ProvisioningError');
  return enter(host, 'provisioning', 'ProvisioningStarted');
});

/** The states of a BareMetalHost, and those that may follow. */
export const hostTable: PhaseTable<HostState, HostFacts, HostAction, HostReason> = {
  '': row(['registering', 'unmanaged'], ({ isManaged }) =>
    isManaged ? go('registering', 'BMCNamed') : go('unmanaged', 'Discovered'),
  ),
  unmanaged: row(['registering'], ({ isManaged }) =>
    isManaged ? go('registering', 'BMCNamed') : wait(unmanagedPollMs, 'Discovered'),
  ),
  registering: managed(['externally provisioned', 'preparing', 'inspecting'], (host) => {
    if (host.isExternallyProvisioned) return go('externally provisioned', 'ExternallyProvisioned');
    if (host.inspection === 'disabled') return go('preparing', 'InspectionSkipped');
    return enter(host, 'inspecting', 'Registered');
  }),
  'match profile': row(['preparing'], () => go('preparing', 'Registered')),
  inspecting: managed(['preparing'], (host) => {
    if (host.inspection === 'disabled') return go('preparing', 'InspectionSkipped');
    return step(host, 'inspect') ?? go('preparing', 'InspectionComplete');
  }),
  preparing: managed(['available'], (host) => {
    if (host.firmware === 'unread') return wait(firmwarePollMs, 'FirmwareUnread');
    return step(host, 'prepare') ?? go('available', 'Prepared');
  }),
  ready: available,
  available,
  provisioning: managed(['provisioned', 'deprovisioning'], deploy),
  provisioned: managed(['deprovisioning'], (host) => {
    if (host.deployment.isCancelled) return enter(host, 'deprovisioning', 'DeploymentCancelled');
    return step(host, 'adopt') ?? managePower(host);
  }),
  'externally provisioned': managed(['provisioned'], (host) => {
    if (!host.isExternallyProvisioned) return go('provisioned', 'ManagedFromNow');
    return step(host, 'adopt') ?? managePower(host);
  }),
  deprovisioning: managed(['available', 'powering off before delete', 'deleting'], (host) => {
    const steps = host.deployment.isRecorded ? (['adopt', 'deprovision'] as const) : (['deprovision'] as const);
    return (
      stepOrGiveUp(host, steps, 'powering off before delete') ??
      go(host.isDeleting ? 'powering off before delete' : 'available', 'DeprovisioningComplete')
    );
  }),
  'powering off before delete': managed(['deleting'], (host) => {
    if (!host.mayPowerOff) return go('deleting', 'Deleting');
    return stepOrGiveUp(host, ['powerOffForDeletion'], 'deleting') ?? go('deleting', 'Deleting');
  }),
  deleting: row([], deleteNode),
};

/** An attempt that failed, or that nobody wants any more, is undone completely before the next one. */
function deploy(host: HostFacts): HostDecision<'provisioned' | 'deprovisioning'> {
  const outcome = host.outcomes.provision;
  if (outcome !== undefined) return result(host, 'provision') ?? go('provisioned', 'ProvisioningComplete');
  if (host.errorType !== undefined) return enter(host, 'deprovisioning', 'ProvisioningFailed');
  if (host.deployment.isCancelled) return enter(host, 'deprovisioning', 'DeploymentCancelled');
  return act('provision', 'Provisioning');
}

/** Decides instead of the table while the object is being deleted. */
export const decideDeletion = (host: HostFacts): HostDecision =>
  storeChanges(host) ?? decideNextForDeletion(host) ?? hostTable[host.state].decide(host);
