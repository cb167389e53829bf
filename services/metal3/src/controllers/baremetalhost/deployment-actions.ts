import { inspectAnnotation, rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { HostSecretMissing } from '../../errors.ts';
import { raidTarget } from '../../raid/raid-target.ts';
import { HostConfigError } from '../../provisioner/back-end.ts';
import type { PreparationData } from '../../provisioner/provisioner.ts';
import { busy, failed, type StepResult } from '../../provisioner/step-result.ts';
import { wantedHints } from './facts.ts';
import { countedAttempts, withoutSettings } from './status-changes.ts';
import { saveFirmware } from './firmware-progress.ts';
import { fail, type HostWork, record, withoutError } from './work.ts';

/** From the inspection to the end of a deployment. */
export const deploymentActions = {
  async inspect(work: HostWork): Promise<void> {
    const { pass, host, facts, provisioner } = work;
    const isRefresh = facts.inspection === 'requested';
    const { result, isStarted, details } = await provisioner.inspect({
      mode: host.spec.inspectionMode === 'fast' ? 'fast' : 'agent',
      ...bootOf(work),
      isRefresh,
      isForced: facts.forcedReboot !== undefined,
      restartsAfterFailure: pass.status.errorType === 'inspection error',
    });
    record(work, 'inspect', result, 'inspection error');
    if (isStarted) await dropRequests(work, [...(isRefresh ? [inspectAnnotation] : []), rebootAnnotation]);
    if (result.kind !== 'done' || details === undefined) return;
    await work.saveHardware(details);
    pass.status = { ...pass.status, hardware: details };
  },

  async prepare(work: HostWork): Promise<void> {
    const { pass, provisioner } = work;
    const data = preparationData(work);
    const { result, isStarted } = await provisioner.prepare(data);
    record(work, 'prepare', result, 'preparation error');
    // The cause may have been withdrawn.
    if (result.kind === 'done' && pass.status.errorType === 'preparation error')
      pass.status = withoutError(pass.status);
    await saveFirmware(work, { result, isStarted });
    if (result.kind === 'failed') {
      // The next attempt configures everything again.
      pass.status = { ...pass.status, provisioning: withoutSettings(pass.status.provisioning) };
    } else if (isStarted) {
      const { raid: _, rootDeviceHints: __, ...rest } = pass.status.provisioning;
      const { raid, rootDeviceHints } = data;
      const applied = {
        ...(raid === undefined ? {} : { raid }),
        ...(rootDeviceHints === undefined ? {} : { rootDeviceHints }),
      };
      pass.status = { ...pass.status, provisioning: { ...rest, ...applied } };
    }
  },

  async refuseProvisioning(work: HostWork): Promise<void> {
    const count = work.pass.status.provisioningFailCount;
    const message = `the image could not be deployed in ${count} attempts: correct spec.image`;
    fail(work, 'refuseProvisioning', { errorType: 'provisioning error', message });
  },

  async provision(work: HostWork): Promise<void> {
    const { pass, host, facts, provisioner } = work;
    const { image, customDeploy } = host.spec;
    const { lastAttemptedImage: _, ...rest } = countedAttempts(pass.status, host.spec);
    pass.status = { ...rest, ...(image === undefined ? {} : { lastAttemptedImage: image }) };
    const data = {
      image,
      customDeploy: customDeploy?.method,
      bootMode: bootOf(work).bootMode,
      rootDeviceHints: pass.status.provisioning.rootDeviceHints,
      isForced: facts.forcedReboot !== undefined,
      restartsAfterFailure: pass.status.errorType === 'provisioning error',
    };
    const begin = async () => {
      const answer = await provisioner.provision(data);
      if (answer.kind !== 'failed') await dropRequests(work, [rebootAnnotation]);
      return answer;
    };
    record(work, 'provision', await begin().catch(asWaitOrFailure), 'provisioning error');
  },

  async adopt(work: HostWork): Promise<void> {
    const { pass, facts, provisioner } = work;
    const restartsAfterFailure = pass.status.errorType === 'provisioned registration error';
    const result = await provisioner.adopt({ state: facts.state, restartsAfterFailure });
    record(work, 'adopt', result, 'provisioned registration error');
  },

  async deprovision(work: HostWork): Promise<void> {
    const { pass, host, provisioner } = work;
    const restartsAfterFailure = pass.status.errorType === 'provisioning error';
    const result = await provisioner.deprovision({ cleaning: host.spec.automatedCleaningMode, restartsAfterFailure });
    record(work, 'deprovision', result, 'provisioning error');
    if (result.kind === 'done') await dropRequests(work, [rebootAnnotation]);
  },
} as const;

/** No watch reports a Secret that the operator has not labelled yet. */
const missingSecretMs = seconds(10);

/** A Secret that does not exist yet is awaited: the image is not to blame, and its attempts do not count. */
const asWaitOrFailure = (error: unknown): StepResult =>
  error instanceof HostSecretMissing ? busy(missingSecretMs, error.message) : asFailure(error);

/** A Secret for the config drive that cannot be used is an error of the host, which only a change repairs. */
export function asFailure(error: unknown): StepResult {
  if (error instanceof HostConfigError) return failed(error.message);
  throw error;
}

function bootOf({ host, pass, defaultArchitecture }: HostWork) {
  const { spec } = host;
  const { provisioning, hardware } = pass.status;
  return {
    bootMode: provisioning.bootMode ?? spec.bootMode ?? 'UEFI',
    architecture: spec.architecture ?? hardware?.cpu?.arch ?? defaultArchitecture,
  };
}

function preparationData({ host, facts, pass, firmware }: HostWork): PreparationData {
  const { provisioning, hardwareProfile = 'unknown', errorType } = pass.status;
  const restartsAfterFailure = errorType === 'preparation error';
  // After a failure nobody knows what is configured.
  const appliedRaid = restartsAfterFailure ? undefined : provisioning.raid;
  return {
    raid: raidTarget(host.spec.raid, provisioning.raid),
    appliedRaid,
    rootDeviceHints: wantedHints(host.spec, hardwareProfile),
    firmware,
    isUnprepared: facts.hasNewSettings || facts.firmware === 'changed' || restartsAfterFailure,
    restartsAfterFailure,
  };
}

async function dropRequests({ host, removeAnnotations }: HostWork, keys: readonly string[]): Promise<void> {
  const present = keys.filter((key) => Object.hasOwn(host.metadata.annotations ?? {}, key));
  if (present.length > 0) await removeAnnotations(present);
}
